"""Newton's method for a loss that is least somewhere, with steps that never make it more."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np

__all__ = ["least"]

HALVINGS = 30
State = TypeVar("State")


def least(
    loss_of: Callable[[np.ndarray], tuple[float, State]],
    step_of: Callable[[np.ndarray, State], np.ndarray],
    start: np.ndarray,
    is_enough: Callable[[float, float], bool],
    most_steps: int = 1000,
) -> np.ndarray:
    """Return where a loss is least, or nearly so.

    Parameters
    ----------
    loss_of : callable
        The loss at a place, and what else is known there.
    step_of : callable
        The step to take off a place, given what is known there; it is halved until the loss falls.
    start : array
        Where to begin.
    is_enough : callable
        Whether to stop, given by how much the loss fell and what it is now.
    most_steps : int, default=1000
        Stop after so many.

    Examples
    --------
    >>> loss = lambda x: (float(np.cosh(x[0] - 2)), x)
    >>> step = lambda x, _: np.tanh(x - 2)
    >>> least(loss, step, np.zeros(1), lambda gain, loss: gain < 1e-12).round(3)
    array([2.])
    """
    place = start
    loss, state = loss_of(place)
    for _ in range(most_steps):
        step = step_of(place, state)
        for scale in 0.5 ** np.arange(HALVINGS):
            tried = place - scale * step
            new_loss, new_state = loss_of(tried)
            if new_loss < loss:
                break
        else:
            break  # no step makes it less: this is the least
        gain, place, loss, state = loss - new_loss, tried, new_loss, new_state
        if is_enough(gain, loss):
            break
    return place
