"""What the documents say of the code is so."""

import re
from dataclasses import fields
from pathlib import Path

import pytest

from vds_gz.cli.check import reference_page
from vds_gz.parameters.sensors import TYPES

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def test_the_parameter_reference_is_up_to_date():
    assert (ROOT / "docs" / "parameters.md").read_text(encoding="utf-8") == reference_page(), "run ./dev docs"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    links = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    missing = [link for link in links if "://" not in link and not (page.parent / link).exists()]
    assert not missing


def test_the_parameter_reference_has_every_sensor_and_all_its_parameters():
    _, _, sensors = reference_page().partition("\n# Sensors\n")
    tables = dict(re.findall(r"## `type: (\w+)`\n\n(.*?)(?=\n## |\Z)", sensors, re.DOTALL))
    assert tables.keys() == TYPES.keys()
    for kind, table in tables.items():
        names = re.findall(r"^\| `(\w+)`", table, re.MULTILINE)
        assert sorted(names) == sorted(field.name for field in fields(TYPES[kind]))


def test_the_pictures_of_the_tutorial_come_from_its_commands():
    script = (ROOT / "docs" / "figures" / "study.py").read_text(encoding="utf-8")
    page = (ROOT / "docs" / "study.md").read_text(encoding="utf-8")
    commands = re.findall(r'^    "([^"]+)",$', script, re.MULTILINE)
    assert len(commands) >= 10
    assert not [command for command in commands if f"    $ vds-gz {command}\n" not in page]
