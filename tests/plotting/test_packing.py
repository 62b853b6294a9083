import numpy as np
import pytest

from skliquid.plotting.packing import Shape, pack


def random_shapes(n_shapes, seed=0):
    rng = np.random.default_rng(seed)
    return [
        Shape(rng.normal(scale=3, size=(n, 2)), rng.uniform(1, 3, n))
        for n in rng.integers(1, 12, n_shapes)
    ]


def lengths(shape):
    return np.hypot(*(shape.centres - shape.centres[0]).T)


def corners(circles):
    """Return the lower left and the upper right corner of circles of radius 1."""
    centres = np.concatenate([shape.centres for shape in circles])
    return centres.min(axis=0) - 1, centres.max(axis=0) + 1


def overlaps(first, second):
    apart = np.hypot(*(first.centres[:, None] - second.centres).transpose(2, 0, 1))
    return (apart < first.radii[:, None] + second.radii - 1e-6).any()


@pytest.mark.parametrize("seed", range(3))
def test_shapes_do_not_overlap_and_keep_their_form(seed):
    shapes = random_shapes(25, seed)
    placed = pack(shapes)
    for k, shape in enumerate(placed):
        assert not any(overlaps(shape, other) for other in placed[:k])
        assert np.array_equal(shape.radii, shapes[k].radii)
        assert np.allclose(lengths(shape), lengths(shapes[k]))


def test_shapes_are_packed_closely_around_zero():
    placed = pack([Shape(np.zeros((1, 2)), np.ones(1))] * 60)
    low, high = corners(placed)
    assert np.allclose(low, -high, atol=1)
    area = np.prod(high - low)
    assert 60 * np.pi > 0.5 * area


def test_equal_circles_form_a_regular_pattern():
    centres = np.concatenate([s.centres for s in pack([Shape(np.zeros((1, 2)), np.ones(1))] * 37)])
    apart = np.hypot(*(centres[:, None] - centres).transpose(2, 0, 1))
    n_neighbours = np.sum(np.isclose(apart, 2), axis=1)
    assert n_neighbours.max() == 6
    assert np.median(n_neighbours) >= 4


def test_the_outline_has_the_wanted_proportions():
    circles = [Shape(np.zeros((1, 2)), np.ones(1))] * 200
    low, high = corners(pack(circles, width_to_height=2.0))
    width, height = high - low
    assert width / height == pytest.approx(2, rel=0.15)


def test_the_same_shapes_are_always_at_the_same_places():
    first, second = pack(random_shapes(10)), pack(random_shapes(10))
    assert all(np.array_equal(a.centres, b.centres) for a, b in zip(first, second, strict=True))
