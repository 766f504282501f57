"""Looking over sparse rows."""

from thresher._kernels._jit import kernel


@kernel
def has_duplicates(indptr, indices, seen):
    """Tell whether a column stands twice in a row; `seen` is one zero per column."""
    for i in range(len(indptr) - 1):
        for k in range(indptr[i], indptr[i + 1]):
            if seen[indices[k]] == i + 1:
                return True
            seen[indices[k]] = i + 1
    return False
