"""A film is for small launches; what it shows of them is held where figures show it."""

import numpy as np
import pytest

from course_lib.emulator import KernelRejected, load_program
from course_lib.emulator.film import film


def test_a_film_is_for_small_launches() -> None:
    kernel = load_program("def k(y):\n    y[0] = 1\n").kernel("k")
    with pytest.raises(KernelRejected, match="small"):
        film(kernel, 1000, 64, (np.zeros(64, np.float32),))
