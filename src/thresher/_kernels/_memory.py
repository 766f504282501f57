"""What kernels do with memory that Numba has no words for."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.core.extending import intrinsic


def places(dtypes: Sequence[Any], arrays: Sequence[np.ndarray]) -> np.ndarray:
    """Return where arrays of these types stand and how long they are; they are to outlive it.

    Each array that is handed over costs a call a fifth of a microsecond: so, many cost as one.
    """
    for dtype, array in zip(dtypes, arrays, strict=True):
        if array.dtype != dtype or not array.flags.c_contiguous:
            raise TypeError(f"The array must be of {dtype} and in one piece; it is {array!r:.60}.")
    return np.array([(array.ctypes.data, array.size) for array in arrays], np.int64)


if config.DISABLE_JIT:

    def arrays_at(table: np.ndarray, dtypes: Sequence[Any]) -> tuple[np.ndarray, ...]:
        """Return the arrays at these `places`, each in one dimension."""
        arrays = []
        for (address, size), dtype in zip(table.tolist(), dtypes, strict=True):
            room = (ctypes.c_char * (size * np.dtype(dtype).itemsize)).from_address(address)
            arrays.append(np.ndarray((size,), dtype, room))
        return tuple(arrays)

    def prefetch(array: np.ndarray, place: tuple[int, ...]) -> None:
        """Do nothing, which is all that it does to the results."""

else:

    @intrinsic  # type: ignore[untyped-decorator]
    def arrays_at(_: Any, table: Any, dtypes: Any) -> Any:
        """Return the arrays at these `places`, each in one dimension."""
        kinds = types.Tuple([types.Array(dtype.dtype, 1, "C") for dtype in dtypes.types])

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            from numba.np.arrayobj import populate_array  # slow, and needed to compile alone

            rows = context.make_array(table)(context, builder, arguments[0])
            arrays = []
            for number, kind in enumerate(kinds.types):
                address, size = (
                    builder.load(_pointer(context, builder, table, rows, (number, column)))
                    for column in range(2)
                )
                dtype, array = context.get_data_type(kind.dtype), context.make_array(kind)
                width = context.get_constant(types.intp, context.get_abi_sizeof(dtype))
                one = array(context, builder)
                data = builder.inttoptr(address, dtype.as_pointer())
                populate_array(one, data, [size], [width], width, None)
                arrays.append(one._getvalue())
            return context.make_tuple(builder, kinds, arrays)

        return kinds(table, dtypes), generate

    @intrinsic  # type: ignore[untyped-decorator]
    def prefetch(_: Any, array: Any, place: Any) -> Any:
        """Let the processor fetch what stands there, to be used soon; it never fails."""

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            one = context.make_array(array)(context, builder, arguments[0])
            at = [
                context.cast(builder, number, kind, types.intp)
                for number, kind in zip(
                    cgutils.unpack_tuple(builder, arguments[1]), place.types, strict=True
                )
            ]
            where = cgutils.get_item_pointer(context, builder, array, one, at)
            where, number = builder.bitcast(where, cgutils.voidptr_t), cgutils.int32_t
            takes = ir.FunctionType(ir.VoidType(), [where.type, number, number, number])
            fetch = builder.module.declare_intrinsic("llvm.prefetch", [where.type], takes)
            builder.call(fetch, [where, number(0), number(3), number(1)])  # to read, and near by
            return context.get_dummy_value()

        return types.void(array, place), generate


def _pointer(context: Any, builder: Any, kind: Any, array: Any, at: tuple[int, ...]) -> Any:
    """Return where something stands in an array, in code that is being made."""
    constants = [context.get_constant(types.intp, place) for place in at]
    return cgutils.get_item_pointer(context, builder, kind, array, constants)
