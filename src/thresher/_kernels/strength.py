"""From term frequencies to the strengths of a document: the same code for one document and many."""

import numpy as np

from thresher._kernels._jit import kernel

U32 = np.uint32
NOT_SCALED, BY_SUM, BY_SQUARES = 0, 1, 2


@kernel
def weigh_document(start, end, indices, values, idf, block_weights, blocks, first_column, scaling):
    """Multiply the values of one document by their factors and scale the document, in place.

    `idf` has a factor for each column, `block_weights` one for the block of each column from
    `first_column` on; either may be empty. A document without strength stays as it is.
    """
    if idf.size:
        for i in range(start, end):
            values[i] *= idf[U32(indices[i])]
    if block_weights.size:
        for i in range(start, end):
            values[i] *= block_weights[blocks[U32(indices[i] - first_column)]]
    if scaling == NOT_SCALED:
        return
    norm = 0.0
    for i in range(start, end):
        norm += values[i] * values[i] if scaling == BY_SQUARES else abs(values[i])
    if scaling == BY_SQUARES:
        norm = np.sqrt(norm)
    if norm != 0.0:
        factor = np.float32(1.0 / norm)
        for i in range(start, end):
            values[i] *= factor


@kernel
def weigh_documents(indptr, indices, values, idf, block_weights, blocks, first_column, scaling):
    """Do this for all documents."""
    for row in range(indptr.size - 1):
        weigh_document(
            indptr[row], indptr[row + 1], indices, values, idf, block_weights, blocks,
            first_column, scaling,
        )  # fmt: skip
