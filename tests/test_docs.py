"""Links and paths of the pages: files, folders, tests and each other."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted({*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")} - {ROOT / "CHANGELOG.md"})
LINK = re.compile(r"\]\((?!https?:|mailto:|#)([^)#\s]+)")
# In backquotes, from the root: `chalicelib/http.py`, `tests/ads`.
PATH = re.compile(
    r"`((?:chalicelib|tests|docs|deploy|local|bench|script|web)/[\w./-]+[\w/])(?:::\w+)?`"
)


# Blocks of code, whose brackets are no links; and words in capitals, which are placeholders.
CODE = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
PLACEHOLDER = re.compile(r"[A-Z]{3,}")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_and_path_of_a_page_leads_somewhere(page: Path) -> None:
    text = CODE.sub("", page.read_text())
    links = [target for target in LINK.findall(text) if not (page.parent / target).exists()]
    paths = [path for path in PATH.findall(text) if not (ROOT / path).exists()]
    paths = [path for path in paths if not PLACEHOLDER.search(path)]

    assert links + paths == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_test_that_a_page_names_exists(page: Path) -> None:
    named = re.findall(r"`(tests/[\w./-]+\.py)::(\w+)`", page.read_text())

    assert [
        f"{path}::{test}"
        for path, test in named
        if not re.search(rf"^def {test}\(", (ROOT / path).read_text(), re.MULTILINE)
    ] == []


def test_every_decision_is_in_the_index_once_by_its_number_and_title() -> None:
    folder = ROOT / "docs" / "decisions"
    entries = re.findall(
        r"^\| \[(.+)\]\((.+?)\) \|", (folder / "README.md").read_text(), re.MULTILINE
    )
    pages = [page for page in sorted(folder.glob("*.md")) if page.name != "README.md"]
    titles = [page.read_text().partition("\n")[0].removeprefix("# ") for page in pages]

    assert sorted(entries) == sorted(zip(titles, (page.name for page in pages), strict=True))
    assert [title[:5] for title in titles] == [f"{page.name[:4]} " for page in pages]


def test_the_index_of_decisions_says_each_in_a_sentence_and_ten_to_read_first() -> None:
    index = (ROOT / "docs" / "decisions" / "README.md").read_text()
    row = r"^\| \[(\d{4}) .+\]\(.+?\) \| (.+?) \| .+ \| \d{4}-\d\d-\d\d \|$"
    rows = re.findall(row, index, re.MULTILINE)
    first = [number for number, decided in rows if decided.startswith("**Read first.** ")]
    introduced = re.findall(r"\[(\d{4})\]", index.partition("\n## ")[0])

    assert len(rows) == len(list((ROOT / "docs" / "decisions").glob("0*.md")))
    assert [number for number, decided in rows if not re.search(r"\w.{20,}\.$", decided)] == []
    assert len(first) == 10
    assert sorted(first) == sorted(introduced)
