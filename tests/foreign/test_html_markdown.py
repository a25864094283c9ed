"""HTML of other systems as Markdown: Plaza shows what the other system showed."""
# ruff: noqa: E501 - a case is a line

import re
import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from chalicelib.comments.rendering import render
from chalicelib.foreign.html_markdown import MAX_HTML_CHARACTERS, markdown_of
from chalicelib.markdown import MOST_NESTED

REL = ' rel="nofollow ugc noopener"'


def shown(html: str, *, breaks: bool = False, images: bool = False) -> str:
    """Return the HTML that Plaza shows for HTML of another system, on one line."""
    rendered = render(markdown_of(html, breaks=breaks), images=images, is_new=False)
    return re.sub(r"\n(?=<|$)|(?<=>)\n", "", rendered).replace(REL, "")


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p>Hello, <b>World</b>.</p>", "<p>Hello, <strong>World</strong>.</p>"),
        ("<p>one</p><p>two</p>", "<p>one</p><p>two</p>"),
        ("one<br>two<br/>three", "<p>one<br>two<br>three</p>"),
        ("one<br><br>two", "<p>one</p><p>two</p>"),
        ("<div>one</div><div>two</div>", "<p>one</p><p>two</p>"),
        ("<i>a</i> <em>b</em> <strong>c</strong>", "<p><em>a</em> <em>b</em> <strong>c</strong></p>"),
        ("<b><i>both</i></b> <s>gone</s>", "<p><em><strong>both</strong></em> <s>gone</s></p>"),
        ("<b> padded </b>text", "<p><strong>padded</strong> text</p>"),
        ("in<b>word</b>s", "<p>inwords</p>"),
        ("これは<b>「重要」</b>です", "<p>これは<strong>「重要」</strong>です</p>"),
        ("<b>two<br><br>paragraphs</b>", "<p><strong>two</strong></p><p><strong>paragraphs</strong></p>"),
        ('<a href="https://a.b/c">there</a>', '<p><a href="https://a.b/c">there</a></p>'),
        ('<a href="https://a.b/c_(d)?e=1&amp;f=2">x</a>', '<p><a href="https://a.b/c_(d)?e=1&amp;f=2">x</a></p>'),
        ('wow!<a href="https://a.b">x</a>', '<p>wow!<a href="https://a.b">x</a></p>'),
        ('<a href="/about">about</a>', "<p>about</p>"),
        ('<a href="javascript:alert(1)">x</a>', "<p>x</p>"),
        ("https://a.b/c_d_e", '<p><a href="https://a.b/c_d_e">https://a.b/c_d_e</a></p>'),
        ('<img src="https://a.b/c.png" alt="a [cat]">', '<p><a href="https://a.b/c.png">a [cat]</a></p>'),
        ('<img src="https://s.w.org/1f642.svg" class="emoji" alt="🙂">', "<p>🙂</p>"),
        ('<img src="data:image/png;base64,AA" alt="dot">', "<p>dot</p>"),
        ('<iframe src="//tube.example/1"></iframe>', '<p><a href="https://tube.example/1">https://tube.example/1</a></p>'),
        ("<blockquote><p>a</p><blockquote>b</blockquote></blockquote>c", "<blockquote><p>a</p><blockquote><p>b</p></blockquote></blockquote><p>c</p>"),
        ("<ul><li>a<li>b</ul>", "<ul><li>a</li><li>b</li></ul>"),
        ("<ol start=3><li>a</li><li>b</li></ol>", '<ol start="3"><li>a</li><li>b</li></ol>'),
        ("<ul><li>a - </li><li>+ b</li></ul>", "<ul><li>a -</li><li>+ b</li></ul>"),
        ("<code>a*b`c</code>", "<p><code>a*b`c</code></p>"),
        ("don<code>t</code>do", "<p>don<code>t</code>do</p>"),
        ("<pre><code>if a:\n    b(`c`)\n```\n</code></pre>", "<pre><code>if a:\n    b(`c`)\n```</code></pre>"),
        ("<h2>Head</h2>text<hr>more", "<p><strong>Head</strong></p><p>text</p><hr><p>more</p>"),
        ("<table><tr><td>a<td>b<tr><td>c</table>", "<p>a b</p><p>c</p>"),
        ("<script>alert(1)</script><style>p{}</style>text", "<p>text</p>"),
        ("<p onclick=x>a<!-- b --></p>", "<p>a</p>"),
        ("<b>unclosed <i>text", "<p><strong>unclosed <em>text</em></strong></p>"),
    ],
)  # fmt: skip
def test_html_is_shown_as_elsewhere(html: str, expected: str) -> None:
    assert shown(html) == expected


@pytest.mark.parametrize(
    "text",
    [
        "1. no list", "1986) a year", "- no list", "+ a plus", "# no heading", "> no quote", "---",
        "*stars* and **more**", "_under_ and snake_case", "~~tildes~~", "`ticks`", "[x](https://y.z)",
        "![x](https://y.z)", "[x]: https://y.z", "<b>", "<https://y.z", "&amp; &copy; &#65;", "a\\*b",
        "\\\\server\\share", "¯\\_(ツ)_/¯", "\\", "*_*", "^_^", ">_<", "a * b * c", "2*3*4", "``` x",
        "= =", "| a | b |", "@ann", "!", "100% sure!", "a\\", "~", "- - -", "* * *",
    ],
)  # fmt: skip
def test_a_text_that_looks_like_markdown_stays_as_it_is(text: str) -> None:
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")

    assert _words(shown(f"<p>{escaped}</p>")) == _words(f"<p>{escaped}</p>")
    assert "<li>" not in shown(escaped)


def test_newlines_of_wordpress_are_line_breaks() -> None:
    text = "one\ntwo\n\nthree\n<blockquote>four\nfive</blockquote>\nsix"

    assert shown(text, breaks=True) == (
        "<p>one<br>two</p><p>three</p><blockquote><p>four<br>five</p></blockquote><p>six</p>"
    )


@pytest.mark.parametrize("text", ["a<br />\nb", "a<br> \r\nb", "a<br>b", "a\nb"])
def test_a_newline_after_a_break_is_no_second_one(text: str) -> None:
    assert shown(text, breaks=True) == "<p>a<br>b</p>"


def test_a_paragraph_begins_after_two_breaks() -> None:
    assert shown("a<br />\n<br />\nb", breaks=True) == "<p>a</p><p>b</p>"
    assert shown("a<br />\n\nb", breaks=True) == "<p>a</p><p>b</p>"


def test_pictures_are_pictures_where_the_site_has_them() -> None:
    assert shown('<img src="https://a.b/c.png" alt="cat">', images=True) == (
        '<p><img src="https://a.b/c.png" alt="cat"></p>'
    )


def test_lists_nest_as_deep_as_plaza_shows_them() -> None:
    lists = "".join(f"<ul><li>{number}" for number in range(MOST_NESTED + 1))

    assert shown(lists).count("<ul>") == MOST_NESTED


@pytest.mark.parametrize(
    "tag", ["b", "blockquote", "ul", "li", "ul><li", "div", "a href='https://a.b'", "p"]
)
def test_deep_nesting_keeps_the_words(tag: str) -> None:
    begun = time.process_time()

    assert "words" in markdown_of(f"<{tag}>" * 20_000 + "words")
    assert time.process_time() - begun < 10


@pytest.mark.parametrize("piece", ["x\n\n", "<p>x"])
def test_many_open_tags_begin_again_in_no_time(piece: str) -> None:
    begun = time.process_time()

    text = markdown_of("<b>" * 20_000 + piece * 20_000, breaks=True)

    assert text.count("**x**") == 20_000
    assert time.process_time() - begun < 20


def test_a_tag_within_its_like_ends_nothing() -> None:
    assert shown("<b>a <strong>b</strong> c</b>") == "<p><strong>a b c</strong></p>"


def test_a_huge_text_keeps_its_words() -> None:
    text = "<p>word</p> " * (MAX_HTML_CHARACTERS // 6)

    assert markdown_of(text).count("word") == MAX_HTML_CHARACTERS // 6
    assert "<" not in markdown_of(text)


_PIECES = st.sampled_from(
    [
        *(
            "a",
            "word",
            "1.",
            "-",
            "+",
            "#",
            ">",
            " ",
            "  ",
            "\n",
            "*",
            "_",
            "~",
            "`",
            "[",
            "]",
            "(",
        ),
        *(
            ")",
            "!",
            "\\",
            "&amp;",
            "&lt;",
            "&gt;",
            "&#42;",
            ".",
            ",",
            ":",
            "/",
            "https://a.b/",
            "日本",
        ),
        *("<b>", "</b>", "<i>", "</i>", "<s>", "</s>", "<br>", "<p>", "</p>", "<code>", "</code>"),
        *("<ul>", "</ul>", "<ol>", "</ol>", "<li>", "</li>", "<blockquote>", "</blockquote>"),
        *('<a href="https://x.y">', "</a>", "<h3>", "</h3>", '<img src="https://i.j/k" alt="z">'),
    ]
)


@settings(max_examples=300)
@given(html=st.lists(_PIECES, max_size=14).map("".join))
@example(html="<b>a</b><i>b</i>")
def test_whatever_the_html_its_words_are_shown(html: str) -> None:
    pictures = re.sub(r"<img [^>]*>", "z", html)

    assert _words(shown(html)) == _words(pictures)


def _words(html: str) -> str:
    """Return the visible characters of HTML, without blanks."""
    body = LexborHTMLParser(f"<body>{html}").body
    text = body.text() if body else ""
    return "".join(text.split())
