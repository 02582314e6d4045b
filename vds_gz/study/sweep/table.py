"""The runs of a sweep as a table, in memory and in files."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any, TypeAlias
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from vds_gz.errors import FailureError

Column: TypeAlias = "NDArray[np.float64] | NDArray[np.int64] | NDArray[np.str_]"


class Table(Mapping[str, Column]):
    """Columns by name, each with one entry for each run."""

    def __init__(self, columns: Mapping[str, Column]) -> None:
        """Take columns of one length."""
        self._columns = dict(columns)

    def __getitem__(self, name: str) -> Column:
        """A column."""
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        """Names of the columns."""
        return iter(self._columns)

    def __len__(self) -> int:
        """Number of columns."""
        return len(self._columns)

    def save(self, path: Path) -> None:
        """Write the table as .npz."""
        columns: Any = self._columns
        whole(path, lambda file: np.savez(file, **columns))

    @classmethod
    def load(cls, path: Path, names: Collection[str] = ()) -> Table:
        """Read a saved table, or some of its columns.

        Raises:
            FailureError: The file is damaged.
        """
        try:
            with np.load(path, allow_pickle=False) as arrays:
                return cls({name: arrays[name] for name in names or arrays.files})
        except (OSError, EOFError, KeyError, ValueError, BadZipFile) as error:
            raise FailureError(
                f"'{path}' is not a table of runs ({error}); remove it, and --resume repeats its runs"
            ) from None


def write_csv(path: Path, tables: Iterable[Table]) -> None:
    """Write tables with the same columns one after the other; reading the texts gives the same numbers."""

    def write(file: IO[bytes]) -> None:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="")
        writer = csv.writer(text, lineterminator="\n")
        for k, table in enumerate(tables):
            if k == 0:
                writer.writerow(table)
            writer.writerows(zip(*(column.tolist() for column in table.values()), strict=True))
        text.flush()
        text.detach()

    whole(path, write)


def whole(path: Path, write: Callable[[IO[bytes]], object]) -> None:
    """Write a file atomically: it exists completely or not at all, even if the process or the machine ends.

    Raises:
        FailureError: It could not be written.
    """
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with partial.open("wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except OSError as error:
        raise FailureError(f"'{path}' cannot be written: {error.strerror}") from None
    finally:
        partial.unlink(missing_ok=True)
