"""The page "Published numbers": up to date, and what it says of them is so."""

import numpy as np
import pytest

from book.experiments import pages, published
from calibkit_audit.clinic import calibration_in_the_large, calibration_slope


@pytest.mark.long
def test_the_page_is_up_to_date_and_its_claims_hold(subtests: pytest.Subtests) -> None:
    text = published.PAGE.read_text("utf-8")
    blocks = published.blocks()
    assert pages.filled(text, blocks) == text, "run: python -m book.experiments.published"
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
