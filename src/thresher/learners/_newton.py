"""Newton's method for minimising a loss, with steps that never increase it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np

HALVINGS = 30
State = TypeVar("State")


def least(
    loss_of: Callable[[np.ndarray], tuple[float, State]],
    step_of: Callable[[np.ndarray, State], np.ndarray],
    start: np.ndarray,
    is_enough: Callable[[float, float], bool],
    most_steps: int = 1000,
) -> np.ndarray:
    """Return the point of least loss, approximately.

    Parameters
    ----------
    loss_of : callable
        Returns the loss at a point, and anything that `step_of` needs.
    step_of : callable
        Returns the step to subtract from a point; it is halved until the loss falls.
    start : array
        The first point.
    is_enough : callable
        Returns whether to stop, given the decrease of the loss and the loss.
    most_steps : int, default=1000
        The largest number of steps.

    Examples
    --------
    >>> loss = lambda x: (float(np.cosh(x[0] - 2)), x)
    >>> step = lambda x, _: np.tanh(x - 2)
    >>> least(loss, step, np.zeros(1), lambda gain, loss: gain < 1e-12).round(3)
    array([2.])
    """
    point = start
    loss, state = loss_of(point)
    for _ in range(most_steps):
        step = step_of(point, state)
        for scale in 0.5 ** np.arange(HALVINGS):
            tried = point - scale * step
            new_loss, new_state = loss_of(tried)
            if new_loss < loss:
                break
        else:
            break  # no step decreases it: this is the minimum
        gain, point, loss, state = loss - new_loss, tried, new_loss, new_state
        if is_enough(gain, loss):
            break
    return point
