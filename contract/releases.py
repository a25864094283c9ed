"""The documents of releases, and what the changelog announces since the last one."""

import json
import re
from pathlib import Path
from typing import Any

from contract.compatibility import breaking

FOLDER = Path(__file__).with_name("released")
_ANNOUNCED = re.compile(r"^- \*\*Breaking:\*\* (.*(?:\n  .*)*)", re.MULTILINE)


def last_release() -> Path:
    """Return the document of the last release."""
    return max(FOLDER.glob("*.json"), key=lambda file: _numbers(file.stem))


def _numbers(version: str) -> list[int]:
    return [int(part) for part in version.split(".")]


def announced(changelog: str) -> set[str]:
    """Return the ids of operations that a line of the next release calls broken."""
    unreleased = changelog.partition("## [Unreleased]")[2].partition("\n## [")[0]
    return set(re.findall(r"`(\w+)`", " ".join(_ANNOUNCED.findall(unreleased))))


def unannounced(old: dict[str, Any], new: dict[str, Any], changelog: str) -> list[str]:
    """Return the breaking changes of operations that the changelog does not name."""
    known = announced(changelog)
    return [each for each in breaking(old, new) if each.partition(":")[0] not in known]


def record(document: Path, version: str, folder: Path = FOLDER) -> None:
    """Keep a document as that of a release; done once, when the version is raised.

    Raises ValueError for a document of another version, and FileExistsError if one is kept.
    """
    told = json.loads(document.read_text())
    if told["info"]["version"] != version:
        raise ValueError(f"the document is of {told['info']['version']}, not {version}")
    with (folder / f"{version}.json").open("x") as kept:
        json.dump(told, kept, ensure_ascii=False, separators=(",", ":"))


if __name__ == "__main__":
    from chalicelib import __version__
    from deploy.openapi.files import KEPT

    record(KEPT, __version__)
