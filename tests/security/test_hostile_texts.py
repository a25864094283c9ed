"""Texts that mean harm, as a browser's own parser reads what is made of them.

Every vector goes through every wrapper; the parser is Lexbor, which follows the HTML standard.
"""

from collections.abc import Callable, Iterator

import pytest
from selectolax.lexbor import LexborHTMLParser, LexborNode

from chalicelib.comments.rendering import render
from chalicelib.errors import Problem
from tests.security.support.vectors import ADDRESSES, MARKUP

TAGS = {
    *("a", "blockquote", "br", "code", "em", "hr", "img", "li", "ol", "p", "pre", "s", "strong"),
    *("ul", "h1", "h2", "h3", "h4", "h5", "h6"),
}
ATTRIBUTES = {
    "a": {"href", "title", "rel"},
    "img": {"src", "alt", "title"},
    "ol": {"start"},
}
SCHEMES = ("http://", "https://", "mailto:")

AS_ADDRESS: dict[str, Callable[[str], str]] = {
    "link": "[x]({})".format,
    "bracketed link": "[x](<{}>)".format,
    "image": "![x]({})".format,
    "image in a link": "[![x]({0})]({0})".format,
    "reference": "[x][r]\n\n[r]: {}".format,
    "autolink": "<{}>".format,
    "title": '[x](https://a.example "{}")'.format,
    "bare": "{}".format,
}
AS_MARKUP: dict[str, Callable[[str], str]] = {
    "bare": "{}".format,
    "in words": "one {} two".format,
    "heading": "# {}".format,
    "quote": "> {}".format,
    "list": "* {}\n* two".format,
    "code": "`{}`".format,
    "fence": "```{0}\n{0}\n```".format,
    "emphasis": "**{}**".format,
    "struck": "~~{}~~".format,
    "link text": "[{}](https://a.example)".format,
    "title": "[x](https://a.example '{}')".format,
    "alternative text": "![{}](https://a.example/x.png)".format,
    "backticks left open": "``` {}".format,
    "indented": "    {}".format,
    "after a line": "x\n{}".format,
}


def texts() -> Iterator[str]:
    """Give every vector in every wrapper."""
    yield from (wrap(address) for wrap in AS_ADDRESS.values() for address in ADDRESSES)
    yield from (wrap(markup) for wrap in AS_MARKUP.values() for markup in MARKUP)


def rendered(text: str, *, images: bool) -> str | None:
    """Return the HTML of a text, or None where it is refused."""
    try:
        return render(text, images=images)
    except Problem:
        return None


def faults(html: str) -> list[str]:
    """Return whatever a browser would find in some HTML that no comment may hold."""
    body = LexborHTMLParser(f"<!doctype html><body>{html}").body
    assert body is not None
    return [fault for node in body.traverse() if node.tag != "body" for fault in faults_of(node)]


def faults_of(node: LexborNode) -> Iterator[str]:
    """Give the faults of one element."""
    tag = node.tag or ""
    if tag not in TAGS:
        yield f"<{tag}>"
    for name, value in node.attributes.items():
        if name not in ATTRIBUTES.get(tag, ()):
            yield f"<{tag} {name}>"
        if name in {"href", "src"} and not (value or "").lower().startswith(SCHEMES):
            yield f"<{tag} {name}={value!r}>"


@pytest.mark.parametrize("images", [False, True], ids=["without images", "with images"])
def test_no_text_becomes_html_that_could_act(*, images: bool) -> None:
    harmful = {
        text: found
        for text in texts()
        if (html := rendered(text, images=images)) is not None and (found := faults(html))
    }

    assert harmful == {}


def test_a_second_parse_reads_what_the_first_one_wrote() -> None:
    """What changes its meaning between two parsers is how a sanitiser is passed (mutation XSS)."""
    unstable = []
    for text in texts():
        html = rendered(text, images=True)
        if html is None:
            continue
        once = LexborHTMLParser(f"<!doctype html><body>{html}").body
        assert once is not None
        twice = LexborHTMLParser(f"<!doctype html>{once.html}").body
        assert twice is not None
        if once.html != twice.html or faults(html):
            unstable.append(text)

    assert unstable == []


@pytest.mark.parametrize(
    "markup", ["<script>x</script>", "<p onclick=x>x</p>", "<a href='javascript:x'>x</a>"]
)
def test_the_judge_finds_what_it_looks_for(markup: str) -> None:
    assert faults(markup) != []


def test_links_of_strangers_are_marked_as_such() -> None:
    body = LexborHTMLParser(render("[x](https://a.example)")).css_first("a")

    assert body is not None
    assert body.attributes["rel"] == "nofollow ugc noopener"
