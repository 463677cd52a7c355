"""Lesson 00: start here."""

__all__ = ["earlier_days"]

_RAINY = (3, 9, 16, 20, 27, 34)


def earlier_days() -> str:
    """Return the weather of 36 days with the same forecast, in rows of twelve."""
    weather = ["rain" if day in _RAINY else "dry " for day in range(36)]
    return "\n".join(" ".join(weather[first : first + 12]).rstrip() for first in (0, 12, 24))
