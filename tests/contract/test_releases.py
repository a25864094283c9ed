"""A client that keeps to the last release's document goes on working, or the changelog says so."""

import json
from pathlib import Path

import pytest

from chalicelib import __version__
from chalicelib.http.document import FILE
from contract.releases import FOLDER, announced, last_release, record, unannounced
from deploy.declared import ROOT

CHANGELOG = """
## [Unreleased]

### Changed

- **Breaking:** `putThing` asks for a name, and `getThing`
  for a token.
- `listThings` is faster.

## [0.1.0] - 2026-01-01

- **Breaking:** `oldThing` is gone.
"""


def test_no_breaking_change_is_left_unannounced() -> None:
    old, new = json.loads(last_release().read_text()), json.loads(FILE.read_text())

    assert unannounced(old, new, (ROOT / "CHANGELOG.md").read_text()) == [], (
        "keep the older form, or announce it in CHANGELOG.md: - **Breaking:** `operationId` ..."
    )


def test_the_changelog_announces_by_the_names_of_operations() -> None:
    assert announced(CHANGELOG) == {"putThing", "getThing"}


def test_what_is_announced_is_let_through() -> None:
    old = {"paths": {"/a": {"get": {"operationId": "putThing"}, "put": {"operationId": "other"}}}}

    assert unannounced(old, {"paths": {}}, CHANGELOG) == ["other: PUT /a is gone"]


def test_a_release_is_recorded_once_and_under_its_own_version(tmp_path: Path) -> None:
    document = tmp_path / "openapi.json"
    document.write_text('{"info": {"version": "0.3.0"}}')

    record(document, "0.3.0", tmp_path)

    assert (tmp_path / "0.3.0.json").read_text() == '{"info":{"version":"0.3.0"}}'
    with pytest.raises(FileExistsError):
        record(document, "0.3.0", tmp_path)
    with pytest.raises(ValueError, match=r"of 0\.3\.0, not 0\.4\.0"):
        record(document, "0.4.0", tmp_path)


def test_the_last_release_is_found_by_number() -> None:
    def numbers(version: str) -> list[int]:
        return [int(part) for part in version.split(".")]

    assert last_release().stem == max((each.stem for each in FOLDER.glob("*.json")), key=numbers)
    # The version that is worked on has none before it is released.
    assert numbers(last_release().stem) <= numbers(__version__)
