"""The benchmark of repairs: what is stored, what the page says of it."""

import numpy as np
import pytest

from book.experiments import repairs
from book.experiments.pages import filled

FOUND = repairs.stored()


@pytest.mark.slow
def test_the_page_shows_what_is_stored_and_what_is_stored_is_computed(subtests) -> None:
    text = repairs.PAGE.read_text(encoding="utf-8")
    assert filled(text, repairs.tables(FOUND)) == text
    for run, name in ((repairs.of_fakes, "classes mixed"), (repairs.of_clouds, "forest")):
        for repair, value in run(name, 300, 3).items():
            with subtests.test(name, repair=repair):
                # A search may end elsewhere; votes that are equal but for rounding may be pooled.
                slack = {"small network": 2e-3, "isotonic, class by class": 2e-3}.get(repair, 2e-6)
                assert FOUND[f"{name}, 300"][repair][3] == pytest.approx(value, abs=slack)


def test_the_smallest_family_that_holds_the_error_wins_and_a_stacked_network_needs_rows() -> None:
    holds = ("none", "temperature", "temperature", "vector scaling", "Dirichlet", "temperature")
    for world, wanted in zip(repairs.WORLDS, holds, strict=True):
        assert all(repairs.leaders(FOUND[f"{world}, {n}"])[0] == wanted for n in repairs.SIZES)
    rows = [FOUND[f"{model}, {n}"] for model in repairs.classifiers() for n in repairs.SIZES]
    pairs = [
        (row[name], row["small network"]) for row in rows for name in ("temperature", "Dirichlet")
    ]
    gaps = [np.subtract(*pair) for pair in pairs]
    z = [gap.mean() / (gap.std(ddof=1) / repairs.SEEDS**0.5) for gap in gaps]
    # Forest, then network; 300 rows, then 3000; against temperature, then Dirichlet calibration.
    assert [int(np.sign(x)) * (abs(x) > 2) for x in z] == [-1, -1, 1, 0, 0, -1, 1, 0]
    told = [
        f"{1000 * abs(gaps[i].mean()):.1f} ± {abs(1000 * gaps[i].mean() / z[i]):.1f}"
        for i in (0, 2, 6)
    ]
    assert all(numbers in repairs.PAGE.read_text(encoding="utf-8") for numbers in told)
