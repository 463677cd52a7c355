"""Lesson 00: start here."""

_RAINY = (3, 9, 16, 20, 27, 34)


def earlier_days() -> str:
    """Return the weather of 36 days with the same forecast, in rows of nine."""
    weather = ["rain" if day in _RAINY else "dry " for day in range(36)]
    return "\n".join(" ".join(weather[first : first + 9]).rstrip() for first in range(0, 36, 9))
