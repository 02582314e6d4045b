"""Expands a xacro file in a process with limited memory: ``python -m`` this, FILE, then ``name:=value``.

``$(find package)`` finds installed packages, and without ROS those whose source is beside the file.
"""

from __future__ import annotations

import os
import resource
import sys
from collections.abc import Iterator
from pathlib import Path
from xml.dom import minidom
from xml.dom.minidom import Document

#: The folder of packages that are not here. What is included from there is left out, because clones of a repository
#: often lack the packages of accessories, and a finding on stderr says so.
MISSING = "/package-not-found/"
FINDING = "finding: "

#: Maximum memory of the process [bytes]: a macro may call itself.
MOST_MEMORY = 3 << 30


def main(argv: list[str]) -> int:
    """Print the expanded file; return 1 after a message on stderr."""
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    import xacro
    from xacro import substitution_args

    from vds_gz.tools.adopt.packages import Packages

    path, pairs = Path(argv[0]), argv[1:]
    packages = Packages(path.parent)

    def find(name: str) -> str:
        folder = packages.find(name)
        return str(folder) if folder is not None else f"{MISSING}{name}"

    included = xacro.get_include_files

    def includes(*arguments: object) -> Iterator[str]:
        for file in included(*arguments):
            if file.startswith(MISSING):
                package = file[len(MISSING) :].partition("/")[0]
                print(
                    f"{FINDING}package '{package}' is not here, so what is included from it is left out",
                    file=sys.stderr,
                )
            else:
                yield file

    xacro.get_include_files = includes
    substitution_args._eval_find = find
    substitution_args._eval_dict["find"] = find
    try:
        mappings = dict(pair.split(":=", 1) for pair in pairs)
        document = xacro.process_file(str(path), mappings=dict(mappings))
        if not _has_robot(document) and (call := _call(path)):
            document = xacro.parse(call, str(path))
            xacro.process_doc(document, mappings=mappings)
        text = document.toprettyxml(indent="  ", encoding="utf-8")
    except RecursionError:
        print("macros or files include each other without end", file=sys.stderr)
        return 1
    except MemoryError:
        print(f"it needs more than {MOST_MEMORY >> 30} GB", file=sys.stderr)
        return 1
    except Exception as error:  # xacro raises whatever its expressions raise
        place = ", ".join(map(str, getattr(xacro, "filestack", None) or ()))
        cause = getattr(error, "exc", None) or error
        reason = " ".join(str(cause).split()) or type(cause).__name__
        argument = reason.removeprefix("Undefined substitution argument ")
        if isinstance(cause, substitution_args.ArgException) or argument != reason:
            reason = f"argument '{argument}' has no value; give it one: {argument}:=VALUE"
        elif " " not in reason:
            reason = f"{type(cause).__name__}: {reason}"
        print(f"{reason} (in {place})" if place else reason, file=sys.stderr)
        return 1
    sys.stdout.buffer.write(text)
    sys.stdout.buffer.flush()
    return 0


def _has_robot(document: Document) -> bool:
    """Whether an expanded file has a link or a model."""
    return any(document.getElementsByTagName(name) for name in ("link", "model", "include"))


def _call(path: Path) -> str:
    """A file that calls the only macro of a file that has no robot outside of it; empty if that needs arguments."""
    found = minidom.parse(str(path)).getElementsByTagName("xacro:macro")
    macros = [macro for macro in found if macro.parentNode is not None and macro.parentNode.nodeName == "robot"]
    if len(macros) != 1 or any(
        ":=" not in word and "=" not in word for word in macros[0].getAttribute("params").split()
    ):
        return ""
    name = macros[0].getAttribute("name").removeprefix("xacro:")
    return (
        f'<robot xmlns:xacro="http://www.ros.org/wiki/xacro" name="{name}">'
        f'<xacro:include filename="{path.resolve()}"/><xacro:{name}/></robot>'
    )


if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    sys.exit(main(sys.argv[1:]))
