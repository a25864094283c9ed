"""A discussion of any length, the same at each run: texts, authors, answers, votes and fates."""

import random
from collections.abc import Sequence
from typing import Literal, NamedTuple

# What becomes of a comment after its posting; the last three are a moderator's or its author's.
Fate = Literal["visible", "pending", "spam", "edited", "deleted"]
_FATES: Sequence[tuple[Fate, int]] = (
    ("visible", 80),
    ("pending", 5),
    ("spam", 3),
    ("edited", 6),
    ("deleted", 6),
)
_ANSWERS = 0.65
_VOTED = 0.4
_MOST_VOTES = 9
_NEAR = 30
AUTHORS = (
    *("Ann", "Ben O'Neil", "Cy & Co", "<Dora>", "Zo\N{LATIN SMALL LETTER E WITH DIAERESIS}"),
    *("\u674e\u5c0f\u9f99", "\u0645\u0631\u064a\u0645", "\U0001f9d1\u200d\U0001f33e Farmer"),
)
_TEXTS = (
    "Plain words, and a second sentence.",
    "*Emphasis*, **strong**, `code` and a [link](https://blog.example/?a=1&b=2#c).",
    "A list:\n\n- one\n- two\n  - deeper\n\n1. first\n2. second",
    "> A quotation\n> of two lines\n\nand its answer",
    "```python\nif a < b and b > c:\n    print('&amp; stays')\n```",
    "Ampersands & <angles>, \"quotes\" and 'apostrophes' &lt;kept&gt;",
    "\u4f60\u597d\uff0c\u4e16\u754c\u3002\u3053\u3093\u306b\u3061\u306f",
    "\u0645\u0631\u062d\u0628\u0627 \u0628\u0627\u0644\u0639\u0627\u0644\u0645 and back",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466 and e\u0301, \U0001f1e8\U0001f1ed",
    "Two lines  \nwith a break, and a last line\n\n---\n\n# A title",
    "| a | b |\n|---|---|\n| 1 | 2 |",
    "A mention of @Ann and a heart <3, and 2 * 3 * 4",
)


class Said(NamedTuple):
    """A comment that is to be posted: `parent` is the number of an earlier one."""

    number: int
    parent: int | None
    author: str
    text: str
    ups: int
    downs: int
    fate: Fate

    @property
    def edited_text(self) -> str:
        """The text after an edit."""
        return f"{self.text}\n\nEdited."


def discussion(size: int, seed: int) -> list[Said]:
    """Return the comments in the order of their posting."""
    draw = random.Random(seed)  # noqa: S311 - the same discussion at each run
    fates, weights = zip(*_FATES, strict=True)
    said: list[Said] = []
    for number in range(size):
        near = range(max(0, number - _NEAR), number)
        answers = number > 0 and draw.random() < _ANSWERS
        voted = draw.random() < _VOTED
        said.append(
            Said(
                number,
                draw.choice(near) if answers else None,
                draw.choice(AUTHORS),
                f"No. {number}: {draw.choice(_TEXTS)}",
                draw.randint(0, _MOST_VOTES) if voted else 0,
                draw.randint(0, _MOST_VOTES // 3) if voted else 0,
                draw.choices(fates, weights)[0],
            )
        )
    return said
