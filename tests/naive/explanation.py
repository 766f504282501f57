"""Each word's share of a score, slowly and obviously: occurrence by occurrence, letter by letter.

For texts whose lower case has as many letters as they have, and in which all letters are composed
and of scripts with spaces.
"""

import re
from collections import Counter, defaultdict

from naive.text import char_grams, gapped, tokenize

RULES = {
    "words": r"\w+",
    "book": r"[^\W\d_]+|\d+|[^\w\s]|_",
    "whitespace": r"\S+",
}


def occurrences(text, counter):
    """Return the words of a text with their places, and every occurrence of every feature.

    An occurrence is the feature, as in `naive.text.Counter`, and the letters that it stands on: for
    a run those of its words, each word by itself.
    """
    lowercase = counter.tokens.get("lowercase", True)
    folded = text.lower() if lowercase else text
    pattern = counter.tokens.get("token_pattern") or RULES[counter.tokens.get("tokens", "words")]
    kept = Counter(tokenize(text, **counter.tokens))
    words = []
    for match in re.finditer(pattern, folded):
        word = match[0] if match[0] in kept else None
        if word is not None and counter.linguistics is not None:
            [word] = counter.linguistics.fold([word])
        if word:
            words.append((word, range(*match.span())))
    features = []
    low, high = counter.ngram_range or (1, 0)
    for length in range(low, high + 1):
        for i in range(len(words) - length + 1):
            names, places = zip(*words[i : i + length], strict=True)
            for gram in gapped(names, counter.gaps):
                kept = tuple(one for one, name in zip(places, gram, strict=True) if name)
                features.append(((int(length > 1), gram), kept))
    if counter.char_ngram_range is not None:
        cut = words
        if counter.char_ngram_tokens == "whitespace":
            cut = [(m[0], range(*m.span())) for m in re.finditer(r"\S+", folded)]
        for token, place in cut:
            for part, inside in zip(*parts(token, place, counter), strict=True):
                features.append(((2, (part,)), (inside,)))
    return words, features


def parts(token, place, counter):
    """Return the parts of a token and the letters of each; all, where it may be folded."""
    names = char_grams(token, *counter.char_ngram_range)
    if counter.char_ngram_tokens == "words":
        return names, [place] * len(names)
    padded = [place[0], *place, place[-1]]  # a blank stands with the letter beside it
    letters = []
    for i, name in enumerate(names):
        first = sum(len(one) == len(name) for one in names[:i])
        letters.append(sorted(set(padded[first : first + len(name)])))
    return names, letters


def explain(text, counter, column_of, added):
    """Return own, runs and parts of each line, and the share of each place.

    `counter` is a naive one, `column_of` the column of a feature, `added` what a column adds.
    """
    words, features = occurrences(text, counter)
    features = [(feature, places) for feature, places in features if column_of(feature) in added]
    times = Counter(column_of(feature) for feature, _ in features)
    owner = {}
    for word, place in words:
        for letter in place:
            owner[letter] = (word, (place[0], place[-1] + 1))
    marks = {}
    letters = "".join(" " if i in owner else c for i, c in enumerate(text))
    for match in re.finditer(r"\S+", letters):
        name = match[0].lower() if counter.tokens.get("lowercase", True) else match[0]
        for letter in range(*match.span()):
            marks[letter] = (name, match.span())
    lines, at_places = defaultdict(lambda: [0.0, 0.0, 0.0]), defaultdict(float)
    for (block, names), places in features:
        amount = added[column_of((block, names))] / times[column_of((block, names))]
        for place in places:
            in_words = [owner[letter] for letter in place if letter in owner]
            owners = in_words or [marks[letter] for letter in place]
            for name, where in owners:
                lines[name][block] += amount / len(places) / len(owners)
                at_places[where] += amount / len(places) / len(owners)
    return dict(lines), dict(at_places)
