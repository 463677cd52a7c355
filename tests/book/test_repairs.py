"""The benchmark of repairs: what is stored, what the page says of it."""

import os
from pathlib import Path

import numpy as np
import pytest

from book.experiments import odir, repairs

FOUND = repairs.stored()


@pytest.mark.slow
def test_what_is_stored_is_computed(subtests) -> None:
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


@pytest.mark.slow
def test_what_is_stored_of_real_networks_is_computed_and_said() -> None:
    page, found = repairs.PAGE.read_text(encoding="utf-8"), odir.stored()
    wide, dense = (found[f"{name}|{n}"] for name, n in (
        ("wide ResNet, 10 classes", 1000), ("DenseNet, 100 classes", 5000)))  # fmt: skip
    ahead = [draw["ODIR"] < draw["temperature"] for draw in wide]
    assert sum(ahead) == 9 and f"costs {1000 * wide[ahead.index(False)]['ODIR']:.0f}" in page
    assert sum(np.isinf(draw["no penalty"]) for draw in wide) == 3
    assert [draw["ODIR"] < draw["temperature"] for draw in dense] == [True, True, False]
    assert all(draw["auto"] == min(draw.values()) for draw in wide + dense)
    path = Path(os.environ.get("CALIBKIT_DATA", "")) / "lenet-5-cifar-10.npz"
    if not path.exists():
        pytest.skip("lenet-5-cifar-10.npz is not in CALIBKIT_DATA")
    data = np.load(path)
    again = odir.losses(data["predictions"], data["ground_truth"], 1000, 0)
    assert again == pytest.approx(found["LeNet, 10 classes|1000"][0], abs=2e-4)
