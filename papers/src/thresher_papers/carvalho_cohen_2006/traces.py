"""Tables 1 and 2 in plain Python, step by step beside the library's learners."""

from __future__ import annotations

import numpy as np

from thresher.learners.online._learner import OnlineLearner
from thresher.learners.online.additive import Perceptron
from thresher_papers._running import folds, one_category
from thresher_papers.carvalho_cohen_2006.learners import learner
from thresher_papers.carvalho_cohen_2006.problems import problem

__all__ = ["mistake_driven", "modified_balanced_winnow"]

Example = dict[int, float]  # strengths of features by number
Step = dict[str, float]


def mistake_driven(examples: list[Example], classes: list[int]) -> list[Step]:
    """Follow table 1, with the score and the update of the Perceptron in section 2.1.

    Examples
    --------
    >>> mistake_driven([{0: 1.0}, {0: 2.0}], [1, 1])[-1]
    {'score': 2.0, 'mistaken': 0, 'i': 1, 'successes': 1}
    """
    i, success, w = 0, {0: 0}, dict[int, float]()
    steps: list[Step] = []
    for x, y in zip(examples, classes, strict=True):
        score = sum(value * w.get(j, 0.0) for j, value in x.items())
        is_mistaken = np.sign(score) != y
        if is_mistaken:
            w |= {j: w.get(j, 0.0) + value * y for j, value in x.items()}
            i += 1
            success[i] = 0
        else:
            success[i] += 1
        steps.append(
            {"score": score, "mistaken": int(is_mistaken), "i": i, "successes": success[i]}
        )
    return steps


def modified_balanced_winnow(examples: list[Example], classes: list[int]) -> list[Step]:
    """Follow table 2, with the parameters of table 3.

    Examples
    --------
    >>> modified_balanced_winnow([{0: 1.0}, {0: 1.0}], [1, 1])[-1]
    {'score': 3.25, 'mistaken': 0, 'i': 1, 'successes': 1}
    """
    alpha, beta, theta, margin, always_on = 1.5, 0.5, 1.0, 1.0, -1
    i, success = 0, {0: 0}
    u, v = dict[int, float](), dict[int, float]()
    steps: list[Step] = []
    for example, y in zip(examples, classes, strict=True):
        augmented = example | {always_on: 1.0}
        total = sum(augmented.values())
        x = {j: value / total for j, value in augmented.items()}
        score = sum(value * (u.get(j, 2.0) - v.get(j, 1.0)) for j, value in x.items()) - theta
        is_mistaken = score * y <= margin
        if is_mistaken:
            for j, value in x.items():
                grow, shrink = alpha * (1 + value), beta * (1 - value)
                u[j] = u.get(j, 2.0) * (grow if y > 0 else shrink)
                v[j] = v.get(j, 1.0) * (shrink if y > 0 else grow)
            i += 1
            success[i] = 0
        else:
            success[i] += 1
        steps.append(
            {"score": score, "mistaken": int(is_mistaken), "i": i, "successes": success[i]}
        )
    return steps


ALGORITHMS = {"table-1": mistake_driven, "table-2": modified_balanced_winnow}


def trace(item: str, name: str, n_examples: int, seed: int) -> list[Step]:
    """Run an algorithm and the library's learner over the first examples of a shuffle."""
    data = problem(name)
    order, _ = next(folds(data.positive, 5, seed))
    rows, positive = data.rows.take(order[:n_examples]), data.positive[order[:n_examples]]
    model: OnlineLearner = learner("MBW") if item == "table-2" else Perceptron(always_on=False)
    model.start(rows.n_columns, 1)
    examples, classes, library = [], [], []
    for k in range(rows.n_rows):
        entries = slice(rows.indptr[k], rows.indptr[k + 1])
        pairs = zip(rows.indices[entries].tolist(), rows.values[entries].tolist(), strict=True)
        examples.append(dict(pairs))
        classes.append(1 if positive[k] else -1)
        example = rows.take(np.array([k]))
        strengths, always_on = model.strengths(example, training=True)
        weights = model.effective_weights()[strengths.indices, 0]
        score = strengths.values @ weights + always_on[0] * model.always_on_weights()[0]
        mistakes = model.learn_rows(example, one_category(positive[k : k + 1]), ends_pass=False)
        pair = {
            "score, library": float(score) - model.score_offset,
            "mistaken, library": int(mistakes[0]),
        }
        library.append(pair)
    steps = ALGORITHMS[item](examples, classes)
    return [
        {"class": y, **step, **library_step}
        for y, step, library_step in zip(classes, steps, library, strict=True)
    ]
