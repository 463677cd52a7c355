"""Abstaining: a constant row in the table of costs, thresholds, bad input."""

import numpy as np
import pytest

from calibkit.decisions import policy_cost
from calibkit_course.lesson13 import abstention
from tests.helpers import binary_data, class_data


@pytest.mark.parametrize("price", [0.05, 0.3, 0.6])
def test_abstaining_is_a_constant_row_in_the_table_of_costs(price: float) -> None:
    labels, prob = class_data(300)
    result = abstention(labels, prob, price=price)
    table = np.vstack([1 - np.eye(3), np.full(3, price)])
    cost = policy_cost(labels, prob, costs=table)
    assert result.value == pytest.approx(cost.value, abs=1e-12)
    assert result.coverage == pytest.approx(1 - cost.share[3], abs=1e-12)
    assert result.answering == pytest.approx((prob.argmax(1) != labels).mean(), abs=1e-12)
    answered = prob.max(1) >= 1 - price
    if answered.any():
        assert result.risk == pytest.approx((prob.argmax(1) != labels)[answered].mean(), abs=1e-12)
        promised = (1 - prob.max(1))[answered].mean()
        assert result.promised_risk == pytest.approx(promised, abs=1e-12)


def test_abstaining_with_an_own_threshold_and_always() -> None:
    labels, prob = binary_data(100)
    always = abstention(labels, prob, price=0.2, threshold=1.0)
    assert (always.coverage, always.value) == (0, 0.2)
    assert np.isnan(always.risk)
    assert "nothing is wrong" in always.describe()
    never = abstention(labels, prob, price=0.2, threshold=0.0)
    assert never.value == never.answering == never.risk
    event = abstention(labels, prob, price=0.3, view=1)
    assert event.coverage == pytest.approx((prob >= 0.7).mean(), abs=1e-12)
    with pytest.raises(ValueError, match="price must be"):
        abstention([0], [0.5], price=2)


def test_hundredths_are_met_to_the_last_bit() -> None:
    whole = np.arange(101)
    for a in range(1, 100):
        handed = abstention(whole % 2, whole / 100, price=a / 100, view=1).coverage
        assert handed == np.mean(whole >= 100 - a)
    assert abstention([1], [0.5], price=0.5).coverage == 1
