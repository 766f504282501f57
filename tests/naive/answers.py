"""The answers of a batch as JSON objects, document by document."""

from itertools import pairwise

from thresher.errors import escaped


def answer_objects(answers):
    """Return each answer as the object that stands in its line of JSON."""
    skipped, notes = iter(answers.batch.skipped), answers._notes.to_pylist()
    bounds = list(pairwise(answers.ends.tolist()))
    objects = []
    for i in answers._rows.tolist():
        if i < 0:
            document = next(skipped)
            note = f"skipped: {document.reason}"
            objects.append({"document": escaped(document.location), "labels": [], "note": note})
        else:
            chosen = answers.chosen[slice(*bounds[i])].tolist()
            objects.append(answer_object(answers, i, chosen, notes[i]))
    return objects


def answer_object(answers, i, chosen, note):
    """Return the answer for one document; fields without a value are left out."""
    tables = {"scores": answers.scores, "probabilities": answers.chances}
    tables = {name: table for name, table in tables.items() if table is not None}
    shown = range(len(answers.names)) if answers.options.scores else chosen
    answer = {
        "document": answers.batch.location(i),
        "labels": [answers.labels[k] for k in chosen],
    }
    for name, table in tables.items():
        answer[name] = {answers.names[k]: shortest(table[i, k]) for k in shown}
    if answers.best is not None:
        fields = {"scores": "score", "probabilities": "probability"}
        answer["ranking"] = [
            {"label": answers.labels[k]}
            | {fields[name]: shortest(table[i, k]) for name, table in tables.items()}
            for k in answers.best[i].tolist()
        ]
    return answer if note is None else answer | {"note": note}


def shortest(value):
    """Return a number rounded to its shortest decimal representation."""
    return float(str(value))
