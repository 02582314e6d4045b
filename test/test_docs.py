"""What the documents say of the code is so."""

import re
from pathlib import Path

import pytest

from vds_gz.check import reference_page

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def test_the_parameter_reference_is_up_to_date():
    assert (ROOT / "docs" / "parameters.md").read_text(encoding="utf-8") == reference_page(), "run ./dev docs"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    links = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    missing = [link for link in links if "://" not in link and not (page.parent / link).exists()]
    assert not missing
