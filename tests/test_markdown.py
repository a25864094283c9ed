"""How deeply a text of any dialect nests, and what becomes of the words below."""

import re
from collections.abc import Callable
from functools import partial
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.rendering import calls
from chalicelib import markdown
from chalicelib.comments import rendering
from chalicelib.comments.mentions import Mention, Mentions
from chalicelib.content.rendering import DIALECT as PAGES
from chalicelib.markdown import MOST_NESTED, Dialect
from chalicelib.shop.catalogue.dialect import DIALECT as PRODUCTS

Render = Callable[[str], str]
MOST_CALLS_A_CHARACTER = 150
_LISTS = {"ul", "ol", "blockquote"}
_MARKS = {"em", "strong", "s"}


def _of(dialect: Dialect) -> Render:
    return partial(markdown.render, dialect=dialect, max_bytes=10_000_000, is_new=False)


def comment(text: str, *, images: bool = False) -> str:
    mentions = Mentions([Mention(id="ann", name="Ann")])
    return rendering.render(text, mentions, images=images, is_new=False, max_bytes=10_000_000)


DIALECTS: dict[str, Render] = {
    "comments": comment,
    "comments with pictures": partial(comment, images=True),
    "pages": _of(PAGES),
    "products": _of(PRODUCTS),
}


class Depths(HTMLParser):
    """The greatest depths of HTML: of lists and quotes, of marks, and of all elements."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self._open: list[str] = []
        self.lists = self.marks = self.all = 0
        self.words = ""
        self.feed(html)
        assert self._open == []

    def handle_starttag(self, tag: str, _attrs: object) -> None:
        if tag in {"br", "hr", "img"}:
            return
        self._open.append(tag)
        self.lists = max(self.lists, sum(each in _LISTS for each in self._open))
        self.marks = max(self.marks, sum(each in _MARKS for each in self._open))
        self.all = max(self.all, len(self._open))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words += data


NESTED = {
    "bullets": "* " * 50 + "word",
    "many bullets": "- + " * 1_000 + "word",
    "numbers": "1. 2) " * 50 + "word",
    "quotes": "> " * 3_000 + "word",
    "quotes of lists": "> - 1. " * 500 + "word",
    "lists by indentation": "\n".join(f"{'  ' * depth}- word{depth}" for depth in range(60)),
    "numbers by indentation": "\n".join(f"{'   ' * depth}1. word{depth}" for depth in range(60)),
    "quotes by lines": "\n".join(f"{'> ' * depth}word{depth}\n" for depth in range(60)),
    "loose lists": "\n\n".join(f"{'  ' * depth}- word{depth}" for depth in range(60)),
    "emphasis": "*" * 1_001 + "word" + "*" * 1_001,
    "emphasis by turns": "_a **b " * 200 + "word" + "** _" * 200,
    "strikes": "~~a *b " * 200 + "word" + "*~~" * 200,
    "links in brackets": "[" * 100 + "word" + "](https://a.example)" * 100,
    "emphasis in links": "*_" * 20 + "[word](https://a.example)" + "_*" * 20,
    "pictures in pictures": "![" * 100 + "word" + "](https://a.example)" * 100,
    "a fence below": "> " * 12 + "```\n" + "> " * 12 + "word",
    "a heading below": "* " * 12 + "# word",
    "a mention below": "*_" * 20 + "@Ann word" + "_*" * 20,
}


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("name", NESTED)
def test_nothing_nests_more_than_eight_deep_and_no_word_is_lost(dialect: str, name: str) -> None:
    text = NESTED[name]

    html = DIALECTS[dialect](text)
    found = Depths(html)

    assert found.lists <= MOST_NESTED
    assert found.marks <= MOST_NESTED
    assert found.all <= 3 * MOST_NESTED + 4
    shown = found.words if "pictures" not in name else html
    assert [each for each in re.findall(r"word\d*", text) if each not in shown] == []


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("unit", ["* ", "> ", "1. "])
def test_eight_levels_are_shown_and_the_ninth_is_text(dialect: str, unit: str) -> None:
    for levels in (1, 7, 8, 9, 99, 100, 101):
        found = Depths(DIALECTS[dialect](unit * levels + "word"))

        assert found.lists == min(levels, 8)
        assert found.words.strip() == unit * max(0, levels - 8) + "word"


@pytest.mark.parametrize("dialect", DIALECTS)
def test_what_follows_a_deep_list_is_where_it_belongs(dialect: str) -> None:
    deep = "\n".join(f"{'  ' * depth}- a" for depth in range(8))

    for between in ("\n", "\n\n"):
        html = DIALECTS[dialect](f"{deep}{between}{'  ' * 7}- b{between}> c{between}- d\n\ne")

        assert Depths(html).lists == 8
        plain = re.sub(r"\s|</?p>", "", html)
        up = "</ul></li>" * 7 + "</ul>"
        middle = f"<li>a</li><li>b</li>{up}<blockquote>c</blockquote><ul><li>d</li></ul>e"
        assert plain.endswith(middle)


def test_emphasis_below_the_eighth_is_shown_without_it() -> None:
    html = comment("*a _a " * 5 + "*x* y" + "_ *" * 5 + " z")

    assert Depths(html).marks <= 8
    assert "x" in html
    assert html.endswith(" z</p>\n")


PIECES = [
    *(
        "> ",
        ">",
        "- ",
        "* ",
        "+ ",
        "1. ",
        "2) ",
        "  ",
        "    ",
        "\t",
        "\n",
        "\n\n",
        "# ",
        "---",
        "```\n",
    ),
    *("*", "**", "_", "~~", "[", "](https://a.example)", "![", "`", "\\", "|", "word ", "@Ann "),
]


@settings(max_examples=200)
@given(
    runs=st.lists(st.tuples(st.sampled_from(PIECES), st.integers(1, 30)), max_size=20),
    dialect=st.sampled_from([*DIALECTS]),
)
def test_no_text_nests_deeply(runs: list[tuple[str, int]], dialect: str) -> None:
    text = "".join(piece * number for piece, number in runs)

    found = Depths(DIALECTS[dialect](text))

    assert max(found.lists, found.marks) <= MOST_NESTED
    assert found.all <= 3 * MOST_NESTED + 6


LAZY = {
    "lazy lines of quotes": "> " * 60 + "a\n" + "b\n" * 5_000,
    "lazy lines of lists": "* " * 60 + "a\n" + "b\n" * 5_000,
    "quotes on lines": ("> " * 60 + "a\n") * 90,
    "lists in quotes": "> " * 7 + "a\n" + "- b\n" * 3_000,
    "nested lists": "\n".join(f"{'  ' * (line % 90)}- a" for line in range(120)),
    "emphasis": "*_" * 2_500 + "a" + "_*" * 2_500,
}


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("name", LAZY)
def test_the_cost_of_a_nested_text_grows_with_its_length(dialect: str, name: str) -> None:
    render, text = DIALECTS[dialect], LAZY[name][:10_000]
    render("x")

    long, half = (calls(partial(render, part)) for part in (text, text[: len(text) // 2]))

    assert long < 3 * half
    assert long < MOST_CALLS_A_CHARACTER * len(text)
