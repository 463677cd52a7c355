"""The page "Figures, read again": up to date, and what it says of its numbers is so."""

import numpy as np
import pytest

import calibkit as ck
from book.experiments import figures, published
from calibkit_audit.clinic import calibration_in_the_large, calibration_slope
from calibkit_course import data


def test_the_bins_of_the_figures_are_those_of_their_sources() -> None:
    """The hospital's have the printed totals and shape, the network's those of its predictions."""
    *hospital, network, birds = figures.figures().values()
    for table, events in zip(hospital, (2686, 5148, 5959), strict=True):
        assert table.n == 37_471 and table.count @ table.frequency == pytest.approx(events)
        assert table.count @ table.mean_prob == pytest.approx(events, abs=0.05)
        signs = np.sign(table.frequency - table.mean_prob)
        assert signs[0] == signs[-1] == -1 and (signs[4:8] == 1).all()
    assert birds.n == 2897
    net = data.load("imagenet-resnext101")
    bins = ck.reliability_table(net.y_true, net.y_prob, bins=10)
    assert network.count == pytest.approx(bins.count, abs=5)  # ours are stored with fewer digits
    assert network.mean_prob == pytest.approx(bins.mean_prob, abs=1e-3)
    assert network.frequency == pytest.approx(bins.frequency, abs=1e-3)


@pytest.mark.long
def test_the_claims_of_the_page_hold(subtests: pytest.Subtests) -> None:
    rows, fits = published.examples()
    for name, (printed, found) in (rows | published.others() | published.clinic()).items():
        with subtests.test(name):
            same = published.alike(printed, found) == printed
            assert same != name.startswith("Li's report")
    table = {name: (float(fit), float(new), float(p)) for name, fit, new, p, *_ in fits}
    losses = {name: (int(impossible), said) for name, *_, impossible, said in fits}
    for name in (name for name in losses if "isotonic" in name):
        assert losses[name][0] > 0 and losses[name][1] == "infinite"
    for name in (
        "redundant features, naive Bayes, isotonic",
        "redundant features, naive Bayes, sigmoid",
    ):
        fit, new, mean = table[name]
        assert fit < mean < new
    assert np.isclose(table["redundant features, logistic"][0], 0.464)
    cancer = published.patients("dcurves")  # judged on the rows of its own fit
    assert abs(calibration_in_the_large(*cancer).value) < 1e-7
    assert abs(calibration_slope(*cancer).value - 1) < 1e-7
    assert calibration_slope(*published.patients("pmcalibration")).low > 1
