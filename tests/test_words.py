"""Plain English in docstrings and comments: counts of phrases that make a sentence hard to read.

Each ceiling may only fall. A count that is far below its ceiling fails too: lower the ceiling.
"""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FILES = [ROOT / "app.py", *sorted((ROOT / "chalicelib").rglob("*.py"))]
# How far a count may lie below its ceiling.
SLACK = 0.3

PASSIVE = (
    r"\b(?:is|are|was|were|be|been|being) (?:\w+ly |not |never |then |thus )?"
    r"(?:\w+ed|given|taken|made|held|kept|read|written|shown|told|sent|found|known|left|put"
    r"|set|seen|done|drawn|paid|sold|lost|met|meant|begun|chosen|cut)\b"
)
# Occurrences in 1,000 words: the phrase, its pattern, its ceiling.
PHRASES = [
    ("what, as a noun", r"\b[Ww]hat (?!.*\?)\w+", 0.4),
    (
        "one that, those who",
        r"\b(?:one|those|others?) (?:that|who|whose|whom|of|in|without|with)\b",
        0.5,
    ),
    ("somebody, nobody", r"\b(?:[Ss]ome|[Nn]o|[Ee]very|[Aa]ny)body\b", 0.1),
    ("by which, of whom", r"\b(?:of|by|from|to|in|for|with|under|on) (?:which|whom)\b", 0.3),
    ("tell, told", r"\b(?:told|tells?|telling)\b", 0.2),
    (
        "passives",
        PASSIVE,
        2.1,
    ),
]
# A function is a verb: `held` says less than `hold` or `is_held`. In percent of all functions.
PARTICIPLE = re.compile(
    r"_?(?:\w+[^e]ed|given|taken|made|held|kept|written|shown|told|sent|found|known|left|seen"
    r"|done|drawn|paid|sold|lost|meant|begun|chosen|bound|gone|brought|thought|spent|built)"
)
PARTICIPLES_PERCENT = 1.5


@cache
def texts() -> list[str]:
    """Return each docstring and comment on one line."""
    return [" ".join(text.split()) for file in FILES for text in _texts_of(file.read_text())]


def _texts_of(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Module):
            yield ast.get_docstring(node) or ""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT and not re.match(r"# (?:noqa|type:)", token.string):
            yield token.string


def per_thousand_words(pattern: str) -> float:
    words = sum(len(text.split()) for text in texts())
    return 1000 * sum(len(re.findall(pattern, text)) for text in texts()) / words


@pytest.mark.parametrize(
    ("phrase", "pattern", "ceiling"), PHRASES, ids=lambda value: str(value)[:16]
)
def test_a_phrase_that_has_to_be_read_twice_gets_rarer(
    phrase: str, pattern: str, ceiling: float
) -> None:
    count = per_thousand_words(pattern)

    assert ceiling - SLACK <= count <= ceiling, (
        f"{phrase}: {count:.2f} in 1,000 words. Rewrite new sentences, or lower the ceiling"
    )


def test_fewer_functions_are_named_by_a_participle() -> None:
    names = [
        node.name
        for file in FILES
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("__")
    ]
    percent = 100 * sum(bool(PARTICIPLE.fullmatch(name)) for name in names) / len(names)

    assert PARTICIPLES_PERCENT - SLACK <= percent <= PARTICIPLES_PERCENT, (
        f"{percent:.2f}% of the functions: name new ones by verbs, or lower the ceiling"
    )
