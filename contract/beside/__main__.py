"""Isso or Waline beside Plaza: a discussion is held there, moves over, and both are compared.

The system runs from its package, on this machine alone: it holds the discussion by its own calls,
and is exported by its own way. `script/plaza import` brings it into a new database. Exits with 1
if anything differs.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench.stage import Stage, fresh_stage
from contract.beside import isso, waline
from contract.beside.calls import Refused
from contract.beside.facts import Fact, Row, compare, facts_of
from contract.beside.talk import Said, discussion
from contract.programs import NoNode
from deploy.declared import ROOT

_SITE, _BASE = "beside", "https://blog.example"
_SHOWN = 5
_NAMES = (isso.NAME, waline.NAME)


def main(arguments: Sequence[str] | None = None) -> None:
    """Have each system hold a discussion, import it, and print what both have in common."""
    parser = argparse.ArgumentParser(prog="script/beside", description=__doc__)
    parser.add_argument("systems", nargs="*", metavar="SYSTEM", help=f"of {', '.join(_NAMES)}")
    parser.add_argument("--size", type=int, default=1_000, help="comments; default: 1,000")
    parser.add_argument("--seed", type=int, default=1, help="of the discussion; default: 1")
    given = parser.parse_args(arguments)
    if unknown := set(given.systems) - set(_NAMES):
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    talk = discussion(given.size, given.seed)
    differing = [name for name in given.systems or _NAMES if not _agrees(name, talk)]
    sys.exit(1 if differing else 0)


def _agrees(name: str, talk: Sequence[Said]) -> bool:
    """Hold, import and compare a discussion; return whether all of it is the same."""
    with (
        tempfile.TemporaryDirectory(prefix="plaza-beside-") as made,
        fresh_stage(Path(made) / "plaza") as stage,
    ):
        folder = Path(made) / name
        folder.mkdir()
        begun = time.monotonic()
        try:
            export, there = _hold(name, stage, folder, talk)
        except (Refused, NoNode) as failure:
            sys.exit(f"script/beside: {name}: {failure}")
        held = time.monotonic()
        _plaza(stage, "import", "--format", name, "--base", _BASE, str(export))
        _plaza(stage, "verify", "--format", name, "--base", _BASE, str(export))
        here = list(facts_of(_exported(stage, folder)))
        rows = list(compare(there, here))
    print(f"{name}: {len(talk):,} posted in {held - begun:.0f} s, {len(there):,} left")
    print(*_lines(rows), sep="\n")
    return not any(row.different for row in rows)


def _hold(
    name: str, stage: Stage, folder: Path, talk: Sequence[Said]
) -> tuple[Path, Sequence[Fact]]:
    if name == isso.NAME:
        return isso.Isso(folder).hold(talk)
    uri = stage.runtime.settings.mongodb_uri.get_secret_value()
    return waline.Waline(folder, uri).hold(talk)


def _plaza(stage: Stage, command: str, *arguments: str) -> None:
    """Run `script/plaza` over a database, and print its report."""
    settings = stage.runtime.settings
    environment = {
        **os.environ,
        "PLAZA_MONGODB_URI": settings.mongodb_uri.get_secret_value(),
        "PLAZA_DATABASE": settings.database,
        "PLAZA_SIGNING_KEYS": settings.signing_keys[0].get_secret_value(),
        "PLAZA_JWT_SECRET": settings.jwt_secret.get_secret_value() if settings.jwt_secret else "",
    }
    script = [str(ROOT / "script" / "plaza"), command, "--site", _SITE, *arguments]
    done = subprocess.run(script, env=environment, check=False)  # noqa: S603 - our own
    if done.returncode:
        raise Refused(f"script/plaza {command} ended with {done.returncode}")


def _exported(stage: Stage, folder: Path) -> list[dict[str, object]]:
    lines = folder / "plaza.ndjson"
    _plaza(stage, "export", str(lines))
    return [json.loads(line) for line in lines.read_text().splitlines()]


def _lines(rows: Sequence[Row]) -> Iterator[str]:
    for row in rows:
        yield f"  {row.name:<10} {row.same:>6,} the same {len(row.different):>6,} different"
        yield from (f"    {each}" for each in row.different[:_SHOWN])


if __name__ == "__main__":
    main()
