"""The parameter file that ``vds-gz identify`` writes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from vds_gz.cli.cli_extensions import GivenVehicle
from vds_gz.core.configuration import NODE_NAME, parameters_of
from vds_gz.core.parameters.declaration import Override
from vds_gz.core.parameters.schema import schema_line
from vds_gz.core.parameters.yaml_reader import parameter_file, read_parameter_file, section_of

HEADER = "# Identified by vds-gz identify from {}.\n# Numbers without a comment are those of the given vehicle.\n"


def write_parameters(folder: Path, log: str, given: GivenVehicle | None, model: str, lines: Sequence[Override]) -> None:
    """Write the given vehicle, or the model's defaults, with what was identified.

    Maps beside the file are named without their folder, so that all can be moved together.
    """
    base = read_parameter_file(str(given[1]), f"/{NODE_NAME}") if given else [Override("model", model)]
    values = [*(line._replace(origin="") for line in base), *lines]
    parameters_of(values)
    here = folder.resolve()
    values = [line._replace(value=Path(str(line.value)).name) if _folder(line) == here else line for line in values]
    section = section_of(str(given[1]), f"/{NODE_NAME}") if given else NODE_NAME
    text = schema_line() + HEADER.format(Path(log).name) + parameter_file(values, section)
    (folder / "parameters.yaml").write_text(text, encoding="utf-8")


def _folder(line: Override) -> Path | None:
    """The folder of the file that a parameter names by an absolute path."""
    path = Path(str(line.value))
    return path.parent if line.name.endswith("_path") and path.is_absolute() else None


def print_files(folder: Path) -> None:
    """Print where the results are."""
    print(f"parameters  {folder / 'parameters.yaml'}\nreport      {folder / 'report.html'}")
