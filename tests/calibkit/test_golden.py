"""Numbers that other programs or exact arithmetic produced: `tests/golden/README.md`."""

from typing import Any

import numpy as np
import pytest

import calibkit as ck
from tests.helpers import golden, golden_data

# --- plug-in errors of uncertainty-calibration --------------------------------------------------

PLUGIN = golden("plugin_errors.json")
# 1-D data have one event; for rows, "marginal" is the l_p mean over classes.
VIEWS = {"top-label": "top-label", "marginal": "class-wise"}


def binning(rule: str, n_bins: int) -> Any:
    return ck.EqualMass(n_bins) if rule == "equal_mass" else ck.EqualWidth(n_bins)


@pytest.mark.parametrize("case", PLUGIN)
def test_plug_in_errors(case: dict[str, Any]) -> None:
    labels, prob = golden_data(case["data"])
    bins = binning(case["bins"], case["n_bins"])
    view = VIEWS[case["mode"]] if prob.ndim == 2 else None
    error = ck.calibration_error(labels, prob, view=view, bins=bins, norm=case["norm"])
    assert float(error) == pytest.approx(case["error"], abs=1e-12)
    if view is not None:
        named = {
            "top-label": ck.top_label_calibration_error,
            "class-wise": ck.marginal_calibration_error,
        }[view]
        assert float(named(labels, prob, bins=bins, norm=case["norm"])) == float(error)


# Upper ends of equal-mass bins by the same library. It closes bins on the right, calibkit on the
# left. So a tie at a cut stays below the edge there and goes above it here; the edges themselves
# are the same, except where one of them then opens no bin.
EQUAL_MASS = [
    ([0.3, 0.5, 0.2, 0.3, 0.5, 0.7], 1, [1.0], None),
    ([0.3, 0.5, 0.2, 0.3, 0.5, 0.7], 2, [0.4, 1.0], None),
    ([0.3, 0.5, 0.2, 0.3, 0.5, 0.7], 3, [0.3, 0.5, 1.0], None),
    ([0.3, 0.5, 1.0, 1.0, 1.0, 1.0], 3, [0.75, 1.0], None),
    ([0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9], 3, [0.55, 0.75, 1.0], None),
    ([0.3], 2, [1.0], None),
    # There 0 is the upper end of the bin {0}; here no bin ends at 0, and 0 lies in [0, .5).
    ([0.0, 0.0, 0.0, 0.0, 1.0], 3, [0.0, 0.5, 1.0], [0.5, 1.0]),
]


@pytest.mark.parametrize(("prob", "n_bins", "upper", "ours"), EQUAL_MASS)
def test_equal_mass_edges(prob, n_bins, upper, ours) -> None:
    edges = ck.EqualMass(n_bins).edges(np.array(prob))
    assert edges[0] == 0 and edges[1:] == pytest.approx(ours or upper, abs=1e-15)
