"""A name of a file or a type stands once in the package, so that a search finds one thing."""

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import vds_gz

PACKAGE = Path(vds_gz.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))


def type_names(file: Path) -> Iterator[str]:
    """Names of classes, and of aliases and type variables: assignments in CamelCase, less their underscores."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    yield from (node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        yield from (target.id for target in targets if isinstance(target, ast.Name) and not target.id.isupper())


def test_a_type_has_its_name_alone():
    names = (name.lstrip("_") for file in FILES for name in type_names(file))
    counts = Counter(name for name in names if name[:1].isupper())
    assert counts["Vehicle"] == counts["Array"] == 1
    assert [name for name, count in counts.items() if count > 1] == []


def test_a_file_has_its_name_alone():
    counts = Counter(file.name for file in FILES)
    assert counts["vehicle.py"] == 1
    assert [name for name, count in counts.items() if count > 1 and not name.startswith("__")] == []
