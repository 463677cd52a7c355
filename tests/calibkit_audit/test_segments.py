"""Segments: what is cut, what is measured, what chance allows, and what is refused."""

from itertools import accumulate
from typing import Any

import numpy as np
import pandas as pd
import pytest

from calibkit_audit import SegmentTable, audit
from calibkit_audit.dependent_rows import DependentRows
from calibkit_audit.segments import features_of, segment_table

RNG = np.random.default_rng(0)
N = 1200
FEATURES = pd.DataFrame(
    {
        "ward": RNG.choice(["A", "B", "C"], N, p=[0.5, 0.4, 0.1]),
        "age": RNG.integers(20, 90, N),
        "sex": RNG.choice(["f", "m"], N),
    }
)
PROB = RNG.integers(5, 60, N) / 100  # with ties
TRUE = (RNG.random(N) < PROB).astype(int)


def worst(label: Any, prob: Any, features: Any, n_draws: int = 199) -> SegmentTable:
    """Return the table of segments, as an audit has it."""
    rows, parts = DependentRows(label=label, prob=prob), features_of(features, len(prob))
    rng, limits = np.random.default_rng(0), {"alpha": 0.01, "detectable": 0.1}
    return segment_table(rows, "y = 1", parts, n_draws, rng, **limits)


def test_each_statistic_is_the_range_of_the_cumulative_differences() -> None:
    found = worst(TRUE, PROB, FEATURES, 999)
    rows = {f"ward {ward}": (FEATURES.ward == ward).to_numpy() for ward in "ABC"}
    rows["ward B and sex f"] = ((FEATURES.ward == "B") & (FEATURES.sex == "f")).to_numpy()
    for name, inside in rows.items():
        (place,) = np.flatnonzero(found.segment == name)
        total: dict[float, float] = {}
        for p, y in sorted(zip(PROB[inside], TRUE[inside], strict=True)):
            total[p] = total.get(p, 0.0) + y - p
        steps = [0.0, *accumulate(total.values())]
        sd = np.sqrt((PROB[inside] * (1 - PROB[inside])).sum())
        assert found.statistic[place] == pytest.approx((max(steps) - min(steps)) / sd)
        assert found.count[place] == inside.sum()
        assert found.mean_prob[place] == pytest.approx(PROB[inside].mean())
        assert found.frequency[place] == pytest.approx(TRUE[inside].mean())
    assert (np.diff(found.statistic) <= 0).all() and (np.diff(found.p_value) >= 0).all()
    steep = np.quantile(PROB, 1 - PROB.mean()) < PROB  # as many as promised, all where it says more
    assert "came, wrong in parts, p = 0.005" in worst(steep * 1, PROB, {"one": PROB * 0}).describe()


def test_numbers_are_cut_into_four_and_rare_words_are_joined() -> None:
    features = {"age": FEATURES.age, "town": [f"t{min(k, 11)}" for k in RNG.integers(0, 30, N)]}
    names = set(worst(TRUE, PROB, features).segment)
    assert sum(name.startswith("age ") and " and " not in name for name in names) == 4
    assert "other town" in names and "town t11" in names
    missing = FEATURES.ward.where(FEATURES.ward != "B")
    names = set(worst(TRUE, PROB, {"ward": missing}).segment)
    assert names == {"ward A", "ward C", "ward missing"}


def test_features_in_a_table_of_arrow() -> None:
    columns = pytest.importorskip("pyarrow").table(FEATURES.to_dict("list"))
    for (code, names), (wanted, parts) in zip(
        features_of(columns, N), features_of(FEATURES, N), strict=True
    ):
        assert names == parts and np.array_equal(code, wanted)


@pytest.mark.parametrize("seed", range(10, 13))
def test_one_bad_segment_is_found_and_named_and_order_does_not_matter(seed: int) -> None:
    rng = np.random.default_rng(seed)
    bad = ((FEATURES.ward == "B") & (FEATURES.sex == "f")).to_numpy()
    label = (rng.random(N) < np.where(bad, PROB + 0.25, PROB)).astype(int)
    found = worst(label, PROB, FEATURES)
    assert "ward B and sex f" in found.segment[:3] and found.p_value[0] <= 0.01
    assert "of 100," in found.describe() and "199 redraws" in found.describe()
    mixed = rng.permutation(N)
    again = worst(label[mixed], PROB[mixed], FEATURES.iloc[mixed])
    assert again.segment[0] == found.segment[0]
    assert again.count[0] == found.count[0]


@pytest.mark.parametrize(
    ("features", "message"), [({}, "names no column"), ({"ward": ["A"]}, r"ward has shape \(1,\)")]
)
def test_what_cannot_be_used_is_refused(features: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        audit(TRUE, PROB, groups=features)
