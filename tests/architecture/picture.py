"""Draw the floors and rooms of the package as SVG: script/architecture [--check]."""

import argparse
import sys
from html import escape
from pathlib import Path

from tests.architecture.floors import FEATURES, FLOORS
from tests.architecture.house import MODULES, imports_between_rooms, purpose_of, room_of

FILE = Path(__file__).parents[2] / "docs" / "architecture.svg"
WIDTH, MARGIN = 1_120, 16
ROOM_WIDTH, ROOM_HEIGHT, GAP = 168, 44, 10
TITLE_HEIGHT = 26
STYLE = """
text { font: 13px system-ui, sans-serif; fill: #1b1f24 }
.title { font-weight: 600; font-size: 15px }
.uses { font-size: 11px; fill: #57606a }
.part { fill: #f6f8fa; stroke: #d0d7de }
.room { fill: #fff; stroke: #8c959f }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 } .uses { fill: #9198a1 }
  .part { fill: #161b22; stroke: #30363d } .room { fill: #0d1117; stroke: #6e7681 }
}
"""


def drawing() -> str:
    """Return the picture: a part for each feature and one for the ground, floors from below."""
    parts: list[str] = []
    top = MARGIN
    for feature in (*FEATURES, ""):
        rows = [row for row in (_of(feature, floor) for floor in reversed(FLOORS)) if row]
        lines = [line for row in rows for line in _wrapped(row)]
        height = TITLE_HEIGHT + len(lines) * (ROOM_HEIGHT + GAP) + GAP
        parts.append(_part(feature or "the ground that all features share", top, height))
        for number, line in enumerate(lines):
            y = top + TITLE_HEIGHT + number * (ROOM_HEIGHT + GAP)
            parts += [_room(room, column, y) for column, room in enumerate(line)]
        top += height + GAP
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {top}" role="img" '
        'aria-label="Floors and rooms of chalicelib: a room imports only from the floors below it">'
        f"\n<style>{STYLE}</style>\n" + "\n".join(parts) + "\n</svg>\n"
    )


def _of(feature: str, floor: tuple[str, ...]) -> list[str]:
    """Return the rooms of a floor that belong to a feature, or to none."""
    owner = {room: next((f for f in FEATURES if room.split(".")[0] == f), "") for room in floor}
    return [room for room in floor if owner[room] == feature]


def _wrapped(rooms: list[str]) -> list[list[str]]:
    per_line = (WIDTH - 2 * MARGIN - GAP) // (ROOM_WIDTH + GAP)
    return [rooms[at : at + per_line] for at in range(0, len(rooms), per_line)]


def _part(title: str, top: int, height: int) -> str:
    return (
        f'<rect class="part" x="{MARGIN}" y="{top}" width="{WIDTH - 2 * MARGIN}" '
        f'height="{height}" rx="8"/>'
        f'<text class="title" x="{MARGIN + GAP}" y="{top + 18}">{escape(title)}</text>'
    )


def _room(room: str, column: int, y: int) -> str:
    x = MARGIN + GAP + column * (ROOM_WIDTH + GAP)
    used = sorted(
        {
            room_of(each.imported)
            for each in imports_between_rooms()
            if room_of(each.importer) == room
        }
    )
    own = room.split(".", maxsplit=1)[0]
    names = ", ".join(name.removeprefix(f"{own}.") for name in used)
    size = sum(1 for module in MODULES if room_of(module) == room)
    told = f"{room}: {purpose_of(room)} Uses: {names or 'nothing'}."
    return (
        f"<g><title>{escape(told)}</title>"
        f'<rect class="room" x="{x}" y="{y}" width="{ROOM_WIDTH}" height="{ROOM_HEIGHT}" rx="5"/>'
        f'<text x="{x + 9}" y="{y + 18}">{escape(room.removeprefix(own + "."))}</text>'
        f'<text class="uses" x="{x + 9}" y="{y + 35}">{size} file{"s" if size > 1 else ""}, uses '
        f"{len(used)} room{'' if len(used) == 1 else 's'}</text></g>"
    )


def main() -> None:
    """Write the picture, or check that the one in the repository is current."""
    parser = argparse.ArgumentParser(prog="script/architecture", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; fail if it is old")
    if not parser.parse_args().check:
        FILE.write_text(drawing())
    elif FILE.read_text() != drawing():
        sys.exit("docs/architecture.svg is old: run script/architecture")


if __name__ == "__main__":
    main()
