"""Abstaining: a constant row in the table of costs, hundredths, bad input."""

import numpy as np
import pytest

from calibkit.decisions import policy_cost
from calibkit_course.lesson13 import abstention
from tests.helpers import class_data


@pytest.mark.parametrize("price", [0.05, 0.3, 0.6])
def test_abstaining_is_a_constant_row_in_the_table_of_costs(price: float) -> None:
    labels, prob = class_data(300)
    result = abstention(labels, prob, price=price)
    table = np.vstack([1 - np.eye(3), np.full(3, price)])
    cost = policy_cost(labels, prob, costs=table)
    assert result.value == pytest.approx(cost.value, abs=1e-12)
    assert result.coverage == pytest.approx(1 - cost.share[3], abs=1e-12)
    answered = prob.max(1) >= 1 - price
    risks = ((prob.argmax(1) != labels)[answered].mean(), (1 - prob.max(1))[answered].mean())
    assert (result.risk, result.promised_risk) == pytest.approx(risks, abs=1e-12)


def test_hundredths_are_met_to_the_last_bit_and_no_answer_has_no_risk() -> None:
    confidence = np.arange(50, 101)
    prob = np.column_stack([1 - confidence / 100, confidence / 100])
    for a in range(1, 51):
        answered = abstention(confidence % 2, prob, price=a / 100).coverage
        assert answered == np.mean(confidence >= 100 - a)
    nobody = abstention([1], [0.7], price=0.1)
    assert (nobody.coverage, nobody.value) == (0, 0.1) and np.isnan(nobody.risk)
    assert abstention([1], [0.5], price=0.5).coverage == 1
    with pytest.raises(ValueError, match="price must be"):
        abstention([0], [0.5], price=2)
