"""Seeds that can be written down."""

import numpy as np
import pytest

from celltreeqm.seeds import recorded_seed


def test_a_number_stays_and_an_omitted_seed_is_drawn():
    assert recorded_seed(0) == 0
    assert recorded_seed(np.int64(2**40)) == 2**40
    assert recorded_seed(None) != recorded_seed(None)


def test_a_generator_gives_one_seed_after_the_other():
    one, other = np.random.default_rng(1), np.random.default_rng(1)
    first, second = recorded_seed(one), recorded_seed(one)
    assert (first, second) == (recorded_seed(other), recorded_seed(other))
    assert first != second
    assert max(first, second) < 2**32


@pytest.mark.parametrize(("seed", "error"), [(-1, ValueError), (0.5, TypeError), ("1", TypeError)])
def test_what_is_no_seed_is_told_in_a_sentence(seed, error):
    with pytest.raises(error, match=rf"seed={seed!r}.* was given; a (seed is a )?whole number"):
        recorded_seed(seed)
