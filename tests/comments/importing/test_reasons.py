"""The reasons of an import's report stand in the documents, each with its words."""

import re

from deploy.declared import ROOT

SOURCES = ROOT / "chalicelib" / "comments" / "importing"
TABLE = ROOT / "docs" / "moving" / "README.md"
GIVEN = re.compile(r'\b(?:skip|UnusablePart|note|lost\.append)\(\s*"([a-z_]+)"')


def test_each_reason_of_an_import_is_explained() -> None:
    found = {code for path in SOURCES.rglob("*.py") for code in GIVEN.findall(path.read_text())}

    explained = set(re.findall(r"`([a-z_]+)`", TABLE.read_text()))

    assert {"id_again", "no_time", "cut", "circle"} <= found
    assert found - explained == set()
