# SPDX-License-Identifier: LGPL-2.1-or-later
"""How large a reduced trace is: as a text of one page number in hex a line, the paper's format; as that text
compressed by zstd; and as one of our trace files.  Nothing of it is kept.
"""
from __future__ import annotations

import contextlib
import ctypes
from ctypes import Structure, byref, c_char_p, c_size_t, c_void_p
from typing import Any

from laplace.library import Pointer, Reference, call, library, loaded, opened
from laplace.say import Failure
from laplace.study.reading import PythonSink

_LEVEL, _COMPRESSION_LEVEL = 3, 100     # of zstd; the parameter's number
_CONTINUE, _END = 0, 2                  # ZSTD_EndDirective
_WORDS = ctypes.sizeof(Reference) // 8
_ADDRESS = Reference.address.offset // 8


class _Buffer(Structure):
    _fields_ = [("bytes", c_void_p), ("size", c_size_t), ("used", c_size_t)]


def _load_zstd() -> ctypes.CDLL:
    zstd = loaded("libzstd.so.1", "zstd", "libzstd1")
    zstd.ZSTD_createCCtx.restype, zstd.ZSTD_getErrorName.restype = Pointer, c_char_p
    zstd.ZSTD_CCtx_setParameter.restype = zstd.ZSTD_compressStream2.restype = c_size_t
    zstd.ZSTD_isError.argtypes = zstd.ZSTD_getErrorName.argtypes = [c_size_t]
    return zstd


class ByteMeasure(PythonSink):
    """Counts bytes, as well as references."""

    def __init__(self, stack: contextlib.ExitStack) -> None:
        meta = library.lpl_meta_new()
        writer = opened(stack, "writer", b"/dev/null", meta, None, True, end="abandon")
        library.lpl_meta_free(meta)
        super().__init__(library.lpl_writer_sink(writer))
        self.text_bytes = self.zstd_bytes = self.lpl_bytes = 0
        self._writer, self._zstd = writer, _load_zstd()
        self._context = self._zstd.ZSTD_createCCtx()
        stack.callback(self._zstd.ZSTD_freeCCtx, self._context)
        self._scratch = ctypes.create_string_buffer(16384)
        self._check(self._zstd.ZSTD_CCtx_setParameter(self._context, _COMPRESSION_LEVEL, _LEVEL))

    def refs(self, refs: int, count: int, report: int) -> int:
        words = memoryview((ctypes.c_uint64 * (count * _WORDS)).from_address(refs)).cast("B").cast("Q")
        pages = [address >> 12 for address in words[_ADDRESS::_WORDS].tolist()]
        self._compress(b"%x\n" * count % tuple(pages), _CONTINUE)
        return super().refs(refs, count, report)

    def finish(self, report: Any) -> int:
        error = super().finish(report)
        if not error:
            call("lpl_writer_flush", self._writer)
            self._compress(b"", _END)
            self.lpl_bytes = library.lpl_writer_bytes(self._writer)
        return error

    def _check(self, result: int) -> int:
        if self._zstd.ZSTD_isError(result):
            raise Failure("zstd: " + self._zstd.ZSTD_getErrorName(result).decode())
        return result

    def _compress(self, text: bytes, directive: int) -> None:
        """What the compressor gives is counted and thrown away."""
        given = _Buffer(ctypes.cast(c_char_p(text), c_void_p), len(text), 0)
        left = 1
        while left if directive == _END else given.used < given.size:
            taken = _Buffer(ctypes.addressof(self._scratch), len(self._scratch), 0)
            left = self._check(self._zstd.ZSTD_compressStream2(self._context, byref(taken), byref(given),
                                                               directive))
            self.zstd_bytes += taken.used
        self.text_bytes += len(text)
