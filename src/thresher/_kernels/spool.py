"""Documents as runs of bytes: columns, then values."""

from thresher._kernels._jit import kernel


@kernel
def pack(indptr, indices, values, record):
    """Write each document as its columns, then its values (given as int32 bits)."""
    place = 0
    for i in range(len(indptr) - 1):
        for k in range(indptr[i], indptr[i + 1]):
            record[place] = indices[k]
            place += 1
        for k in range(indptr[i], indptr[i + 1]):
            record[place] = values[k]
            place += 1


@kernel
def unpack(record, places, indptr, indices, values):
    """Take the documents that begin at `places` of `record` apart again, in that order."""
    for i in range(len(places)):
        place, length = places[i], indptr[i + 1] - indptr[i]
        for k in range(length):
            indices[indptr[i] + k] = record[place + k]
            values[indptr[i] + k] = record[place + length + k]
