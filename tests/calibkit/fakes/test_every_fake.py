"""What every fake classifier keeps: honest samples, one per seed, and plain frozen values."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest

from calibkit.fakes import (
    ClassKnobs,
    DirichletFake,
    KnobClassifier,
    LogitDistortion,
    Power,
    SyntheticShape,
)

# Lists and NumPy numbers are taken as well, and become plain values.
FAKES = {
    "logits": LogitDistortion(0.5, scores=[2, 3]),
    "shape": SyntheticShape("beta2", np.float64(0.5)),
    "knob": KnobClassifier(np.int64(3), np.float64(0.6)),
    "class knobs": ClassKnobs.with_directions(0.8, ["over", "under"], [0.4, 0.3]),
    "Dirichlet": DirichletFake([1, 2], Power(2)),
    "confidence": DirichletFake(np.array([1, 3, 1]), Power((1, 2, 3)), "confidence-is-base"),
}
each = pytest.mark.parametrize("name", FAKES)


def fields(sample: Any) -> list[Any]:
    return [sample.y_true, sample.y_prob, sample.true_prob]


@each
def test_samples_are_honest_tables(name: str) -> None:
    sample = FAKES[name].sample(500, 0)
    labels, reported, true = fields(sample)
    assert sample.n == len(labels) == len(reported) == len(true) == 500
    assert labels.dtype == np.int64
    both = np.stack([reported, true])
    assert both.min() >= 0 and both.max() <= 1
    if both.ndim == 3:
        np.testing.assert_allclose(both.sum(axis=2), 1, atol=1e-12)
    own = true if true.ndim == 1 else true[np.arange(500), labels]
    assert (own[labels == 1] > 0).all()  # what has probability 0 never happens
    assert not any(array.flags.writeable for array in fields(sample))


@each
def test_the_same_seed_gives_the_same_sample_and_leaves_the_global_state_alone(name: str) -> None:
    before = str(np.random.get_state())  # noqa: NPY002
    one, two, other = (fields(FAKES[name].sample(300, seed)) for seed in (7, 7, 8))
    assert str(np.random.get_state()) == before  # noqa: NPY002
    for first, second in zip(one, two, strict=True):
        np.testing.assert_array_equal(first, second)
    assert not np.array_equal(one[1], other[1])
    if name != "shape":  # whose data are those of the paper: a seed, never a generator
        generator = np.random.default_rng(7)
        np.testing.assert_array_equal(FAKES[name].sample(300, generator).y_prob, one[1])
        assert not np.array_equal(FAKES[name].sample(300, generator).y_prob, one[1])
        assert len(FAKES[name].sample(300).y_true) == 300  # fresh entropy


@each
def test_bad_sizes_and_seeds_are_refused(name: str) -> None:
    for n in (0, -1, 2.5, "ten", True, None):
        with pytest.raises(ValueError, match="n must be a whole number of at"):
            FAKES[name].sample(n, 0)
    for seed in (-1, "seed", True):
        with pytest.raises(ValueError, match="(rng|seed) must be"):
            FAKES[name].sample(5, seed)


@each
def test_fakes_are_frozen_values(name: str) -> None:
    fake = FAKES[name]
    assert pickle.loads(pickle.dumps(fake)) == copy.deepcopy(fake) == fake
    assert hash(fake) == hash(copy.deepcopy(fake))
    assert "np." not in repr(fake)
    with pytest.raises(AttributeError):
        setattr(fake, type(fake).__slots__[0], 0)
