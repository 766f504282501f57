"""Probabilistic latent semantic analysis as its formulas say it, with P(z|d,w) as one table."""

import numpy as np


def maximise(counts, theta, phi, n_iter, power=1.0):
    """Return P(z|d) and P(w|z) after some iterations; `counts` is dense, documents by words."""
    theta, phi = theta.astype(np.float64), phi.astype(np.float64)
    documents, words = counts.nonzero()
    n = counts[documents, words].astype(np.float64)[:, np.newaxis]
    for _ in range(n_iter):
        posterior = (theta[documents] * phi[words]) ** power
        posterior /= posterior.sum(axis=1, keepdims=True)
        theta, phi = np.zeros_like(theta), np.zeros_like(phi)
        np.add.at(theta, documents, n * posterior)
        np.add.at(phi, words, n * posterior)
        theta /= np.maximum(theta.sum(axis=1, keepdims=True), 1e-300)
        phi /= phi.sum(axis=0)
    return theta, phi


def perplexity(counts, theta, phi):
    """How many equally likely words a token is as surprising as."""
    documents, words = counts.nonzero()
    n = counts[documents, words]
    chances = (theta[documents] * phi[words]).sum(axis=1)
    return float(np.exp(-(n * np.log(chances)).sum() / n.sum()))


def fold_in(counts, phi, n_iter):
    """Return P(z|d) for words that are given; documents without a word get zeros."""
    theta = np.full((len(counts), phi.shape[1]), 1 / phi.shape[1])
    for _ in range(n_iter):
        theta, _ = maximise(counts, theta, phi, 1)
    return theta
