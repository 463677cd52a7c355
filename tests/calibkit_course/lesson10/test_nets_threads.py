"""One thread inside, and the caller's number of threads afterwards, whatever happens."""

import numpy as np
import pytest

from calibkit_course.lesson10 import nets

torch = pytest.importorskip("torch")

from calibkit_course.lesson10.nets._torch import one_thread  # noqa: E402

Z = np.random.default_rng(0).normal(size=(200, 4))
Y = np.arange(200) % 4


@pytest.fixture(autouse=True)
def two_threads():
    """Ask for two threads, as a caller would."""
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


def test_one_thread_inside_also_after_leaving_an_inner_block():
    with one_thread():
        assert torch.get_num_threads() == 1
        with one_thread():
            assert torch.get_num_threads() == 1
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == 2
    with pytest.raises(KeyboardInterrupt), one_thread():
        raise KeyboardInterrupt
    assert torch.get_num_threads() == 2


def test_training_is_in_one_thread():
    seen = []

    def step(network, optimiser, x, y):
        seen.append(torch.get_num_threads())
        return 0.0

    images, parts = np.zeros((20, 28, 28), dtype=np.float32), ("train", "validation", "test")
    given = {f"{part}_x": images for part in parts} | {f"{part}_y": Y[:20] for part in parts}
    split = nets.Split(noise=0.0, **given)
    nets.train_network(nets.image_network((2, 2), 4), split, step=step, epochs=2)
    assert seen == [1, 1] and torch.get_num_threads() == 2
    one = nets.OrderPreserving("logits").fit(Z, Y).calibrate(Z)
    assert torch.get_num_threads() == 2
    torch.set_num_threads(1)
    np.testing.assert_array_equal(nets.OrderPreserving("logits").fit(Z, Y).calibrate(Z), one)
