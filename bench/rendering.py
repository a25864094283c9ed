"""Cost of rendering the texts that are hardest for a Markdown parser.

usage: script/bootstrap bench.rendering
"""

import sys
import time
from collections.abc import Callable
from functools import partial
from types import FrameType

from chalicelib.comments.errors import CommentTooLarge
from chalicelib.comments.forms import MAX_TEXT_CHARACTERS
from chalicelib.comments.rendering import render
from chalicelib.errors import UnreadableText

ORDINARY = "Some ordinary *words* with a [link](https://a.example) and `code`.\n\n"
# A text is its unit over and over, behind a definition that makes `[a]` a link.
UNITS = {
    "images that never end": "![ ",
    "references to nothing": "[a][",
    "brackets": "[",
    "emphasis and brackets": "****[[",
    "links in links": "[a](",
    "images in images": "![](",
    "links in images": "[![",
    "brackets and code": "`[",
    "raw HTML": "<![CDATA[",
    "brackets on lines": "[\n",
    "emphasis": "*a_",
    "strikes": "~~a",
    "lists": "* x\n",
    "block quotes": "> ",
    "headings": "# a\n",
    "autolinks": "<http://a>",
    "entities": "&amp;",
    "definitions": "[a]: x\n",
    "definitions over lines": "[a\n]:",
    "titles": '[a](b "',
    "destinations": "[x](<",
    "backslashes": "\\[",
}
_DEFINITION = "[a]: https://a.example\n\n"
_ROUNDS = 3


def texts(characters: int = MAX_TEXT_CHARACTERS) -> dict[str, str]:
    """Return the texts by name, all of one length."""
    half, quarter = characters // 2, characters // 4
    return {
        "ordinary": _filled(ORDINARY, characters),
        "brackets in brackets": "[" * half + "]" * half,
        "images in brackets": "![" * quarter + "]" * half,
        "references in brackets": _DEFINITION + "[" * (half - 20) + "a" + "]" * (half - 20),
        **{name: _filled(unit, characters) for name, unit in UNITS.items()},
        **{
            f"{name}, defined": _DEFINITION + _filled(unit, characters - len(_DEFINITION))
            for name, unit in UNITS.items()
            if "[" in unit
        },
    }


def work(text: str, *, images: bool = False) -> int:
    """Return how many functions are called to render a text, which no other process sways."""
    return calls(partial(attempt, text, images=images))


def calls(run: Callable[[], object]) -> int:
    """Return how many functions a function calls."""
    number = 0

    def count(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal number
        number += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        run()
    finally:
        sys.setprofile(None)
    return number


def attempt(text: str, *, images: bool = False) -> None:
    """Render a text, or have it refused."""
    try:
        render(text, images=images)
    except (CommentTooLarge, UnreadableText):
        return


def main() -> None:
    """Print milliseconds of this process and function calls of each text, the worst first."""
    found = texts()
    for text in found.values():
        attempt(text)
    rows = [
        (_milliseconds(partial(attempt, text, images=True)), work(text, images=True), name)
        for name, text in found.items()
    ]
    print(f"{MAX_TEXT_CHARACTERS:,} characters: ms of CPU, calls")
    for milliseconds, calls, name in sorted(rows, reverse=True):
        print(f"{milliseconds:7.1f} {calls:9,}  {name}")


def _filled(unit: str, characters: int) -> str:
    return (unit * (characters // len(unit) + 1))[:characters]


def _milliseconds(render_it: Callable[[], None]) -> float:
    """Return the least time of some rounds: what else the machine is at only adds."""
    times = []
    for _ in range(_ROUNDS):
        started = time.process_time()
        render_it()
        times.append(time.process_time() - started)
    return min(times) * 1_000


if __name__ == "__main__":
    main()
