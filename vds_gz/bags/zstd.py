"""Zstandard: by the Python package where it is installed, else by the C library, which ROS brings with its bags.

Python itself knows this compression from 3.14 on.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from importlib.util import find_spec

#: As fast as it gets.
LEVEL = 1

#: The C library; its functions are the same since 1.0.
LIBRARY = "libzstd.so.1"


Ways = tuple[Callable[[bytes], bytes], Callable[[bytes, int], bytes]]


def by_package() -> Ways:
    """Both ways, by the package ``zstandard``."""
    import zstandard

    def decompress(data: bytes, length: int) -> bytes:
        try:
            return zstandard.ZstdDecompressor().decompress(data, max_output_size=length)
        except zstandard.ZstdError as error:
            raise ValueError(str(error)) from None

    return zstandard.ZstdCompressor(LEVEL).compress, decompress


def by_library() -> Ways:
    """Both ways, by the C library.

    Raises:
        ModuleNotFoundError: It is not installed.
    """
    try:
        library = ctypes.CDLL(LIBRARY)
    except OSError:
        raise ModuleNotFoundError(f"neither zstandard nor {LIBRARY} is installed", name="zstandard") from None
    size, pointer, text = ctypes.c_size_t, ctypes.c_void_p, ctypes.c_char_p
    library.ZSTD_compressBound.argtypes, library.ZSTD_compressBound.restype = [size], size
    library.ZSTD_compress.argtypes, library.ZSTD_compress.restype = [pointer, size, text, size, ctypes.c_int], size
    library.ZSTD_decompress.argtypes, library.ZSTD_decompress.restype = [pointer, size, text, size], size
    library.ZSTD_isError.argtypes, library.ZSTD_isError.restype = [size], ctypes.c_uint

    def checked(result: int) -> int:
        if library.ZSTD_isError(result):
            raise ValueError("the compressed data is damaged")
        return result

    def compress(data: bytes) -> bytes:
        buffer = ctypes.create_string_buffer(library.ZSTD_compressBound(len(data)))
        return ctypes.string_at(buffer, checked(library.ZSTD_compress(buffer, len(buffer), data, len(data), LEVEL)))

    def decompress(data: bytes, length: int) -> bytes:
        buffer = ctypes.create_string_buffer(max(length, 1))
        return ctypes.string_at(buffer, checked(library.ZSTD_decompress(buffer, length, data, len(data))))

    return compress, decompress


#: ``compress(data)``, and ``decompress(data, size)`` with the size before it was compressed [bytes], which raises
#: ValueError where the data is damaged.
compress, decompress = by_package() if find_spec("zstandard") else by_library()
