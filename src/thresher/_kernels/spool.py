"""Documents in the form of a file: the columns, then the values of each."""

from thresher._kernels._jit import kernel


@kernel
def pack(indptr, indices, values, record):
    """Write each document as its columns, then its values (given as int32 bits)."""
    n = 0
    for i in range(len(indptr) - 1):
        for k in range(indptr[i], indptr[i + 1]):
            record[n] = indices[k]
            n += 1
        for k in range(indptr[i], indptr[i + 1]):
            record[n] = values[k]
            n += 1


@kernel
def unpack(record, starts, indptr, indices, values):
    """Write columns and values of the documents that start at `starts` of `record`."""
    for i in range(len(starts)):
        start, length = starts[i], indptr[i + 1] - indptr[i]
        for k in range(length):
            indices[indptr[i] + k] = record[start + k]
            values[indptr[i] + k] = record[start + length + k]
