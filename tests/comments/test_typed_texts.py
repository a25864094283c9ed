# ruff: noqa: RUF001
"""Texts as people type them who never heard of Markdown, and as its friends write them."""

import html as entities
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from bench.rendering import calls
from chalicelib.comments import rendering
from chalicelib.comments.mentions import Mention, Mentions
from tests.support.http_client import Client

PAGE = {"title": "Moon", "url": "https://a.example/moon"}
LINK = '<a href="{}" rel="nofollow ugc noopener">{}</a>'
MOST_CALLS_A_CHARACTER = 65


def render(text: str, *people: Mention, images: bool = False) -> str:
    return rendering.render(text, Mentions(people), images=images).rstrip("\n")


def shown(text: str) -> str:
    """Return what a reader sees of a text of one paragraph."""
    html = render(text).replace("<br>\n", "\n")
    assert html.startswith("<p>"), html
    return entities.unescape(re.sub("<[^>]*>", "", html))


# Typed, and shown just so.
AS_TYPED = [
    # Lists and headings that are none.
    "1986. A great year.",
    "14. The number of doors is odd.",
    "2020.\nWhat a year.",
    "10. Bronze\n9. Silver\n8. Gold",
    "12) is my answer",
    "007. Bond",
    "1.",
    "-",
    "*",
    "* laughs *",
    "- whispers -",
    "+ cheap\n+ quick\n- loud",
    "+ 1 for this",
    "-5 degrees\n-7 degrees",
    "Imagination is all.\n- Einstein",
    "Imagination is all.\n* Terms apply\nNo more.",
    "Who is first?\n1. Me",
    "# 1 fan",
    "#1 fan",
    "#moon #landing",
    "A title\n=======",
    # Quotes that are none.
    ">:(",
    ">.<",
    ">_>",
    ">:-D fine",
    ">50% of people",
    ">= 5 works",
    ">o< no",
    # Ornaments.
    "*****",
    "**** great",
    "~~~~~~",
    "~~~ hello ~~~",
    "***** out of *****",
    # Sums, names and hidden letters.
    "2 * 3 * 4",
    "2*3*4",
    "5*5=25 and 6*6=36",
    "snake_case_name and other_long_name",
    "f*ck this sh*t",
    "f**k this sh**t",
    "f***ing b****es",
    "**** you, ****ing b****es",
    "un*believ*able",
    "бл*ть и с*ка",
    "*.py and *.* files",
    "price* and tax*",
    # Faces.
    ":-) ;) :* 8-) <3 :'(",
    "^_^ and ^_^",
    "-_- and -_-",
    "*_* and (*_*)",
    ">_< or >_<",
    "T_T and T_T",
    "._. or ;_; or =_= or '_'",
    "\u00af\\_(\u30c4)_/\u00af and \u00af\\_(\u30c4)_/\u00af",
    "\\o/ and \\(^o^)/",
    # Deletions that are none.
    "hi~ there~ friend",
    "~~",
    "so~~nice~~ of you",
    "\u597d\u7684~~\u6211\u6765\u4e86~~",
    # Apostrophes.
    "I don`t think it`s mine",
    "c`est l`heure, qu`il",
    # Backslashes.
    "C:\\temp\\new\\",
    "ends here\\\nand begins here",
    "\\\\server\\share",
    "\\",
    # Markup of others.
    "<b>bold</b> <br> <script>x</script>",
    "[b]bold[/b]",
    "a < b > c & d",
    "AT&T, R&D;",
    # Addresses that are none.
    "write to ann@a.example",
    "a.example/b is no address",
    "ftp://a.example",
    "https://",
    "www.a",
    "xhttps://a.example",
    # Blanks.
    "a\tb",
    "a\u00a0b",
    "a\u200db \U0001f468\u200d\U0001f469\u200d\U0001f467 \U0001f600",
    "one\ntwo\nthree",
]


@pytest.mark.parametrize("text", AS_TYPED)
def test_what_is_no_markdown_is_shown_as_typed(text: str) -> None:
    assert shown(text) == text


@pytest.mark.parametrize("text", [each for each in AS_TYPED if "\n" not in each])
def test_it_is_shown_as_typed_in_a_quote_and_in_an_item_of_a_list(text: str) -> None:
    own = render(text).removeprefix("<p>").removesuffix("</p>")

    assert render(f"> {text}") == f"<blockquote>\n<p>{own}</p>\n</blockquote>"
    assert render(f"1. {text}") == f"<ol>\n<li>{own}</li>\n</ol>"


MEANT = {
    # Lines.
    "a\nb": "<p>a<br>\nb</p>",
    "a  \nb": "<p>a<br>\nb</p>",
    "a\n\n\nb": "<p>a</p>\n<p>b</p>",
    "a\r\nb\rc": "<p>a<br>\nb<br>\nc</p>",
    "    An indent\nand a line": "<p>An indent<br>\nand a line</p>",
    "    One\n\n    Two": "<p>One</p>\n<p>Two</p>",
    "\u3000\u3000一\n\u3000\u3000二": "<p>\u3000\u3000一<br>\n\u3000\u3000二</p>",
    # Code.
    "    a = 1\n      b": "<pre><code>a = 1\n  b\n</code></pre>",
    "Run\n\n    make": "<p>Run</p>\n<pre><code>make\n</code></pre>",
    f"So\n\n    {'word ' * 16}.": f"<p>So</p>\n<p>{'word ' * 16}.</p>",
    "So\n\n    A line\nand a line": "<p>So</p>\n<p>A line<br>\nand a line</p>",
    "    - a\n    - b": "<p>- a<br>\n- b</p>",
    "\tif x:\n\t\ty": "<pre><code>if x:\n\ty\n</code></pre>",
    "```\n  a\n```": "<pre><code>  a\n</code></pre>",
    "`a`s `b` and don`t": "<p><code>a</code>s <code>b</code> and don`t</p>",
    "这个`a`吗": "<p>这个<code>a</code>吗</p>",
    "`a*b*c`": "<p><code>a*b*c</code></p>",
    # Lists.
    "- a\n- b\nso": "<ul>\n<li>a</li>\n<li>b</li>\n</ul>\n<p>so</p>",
    "  - a\n  - b": "<ul>\n<li>a</li>\n<li>b</li>\n</ul>",
    "- a\n  - b\n  b\n- c": "<ul>\n<li>a\n<ul>\n<li>b</li>\n</ul>\nb</li>\n<li>c</li>\n</ul>",
    "So\n- a\n- b": "<p>So</p>\n<ul>\n<li>a</li>\n<li>b</li>\n</ul>",
    "So\n- a\n\n- b": "<p>So</p>\n<ul>\n<li>\n<p>a</p>\n</li>\n<li>\n<p>b</p>\n</li>\n</ul>",
    "So\n1. a\n2. b": "<p>So</p>\n<ol>\n<li>a</li>\n<li>b</li>\n</ol>",
    "So\n- a\n  b": "<p>So</p>\n<ul>\n<li>a<br>\nb</li>\n</ul>",
    "So\n\n- a": "<p>So</p>\n<ul>\n<li>a</li>\n</ul>",
    "> So\n> - a\n> - b": "<blockquote>\n<p>So</p>\n<ul>\n<li>a</li>\n<li>b</li>\n</ul>\n"
    "</blockquote>",
    "1. a\n2. b": "<ol>\n<li>a</li>\n<li>b</li>\n</ol>",
    "1. a\n1. b\n1. c": "<ol>\n<li>a</li>\n<li>b</li>\n<li>c</li>\n</ol>",
    "1. a\n2. b\n4. d": "<ol>\n<li>a</li>\n<li>b</li>\n</ol>\n<p>4. d</p>",
    "1. a\n3. c\n7. g": "<ol>\n<li>a</li>\n</ol>\n<p>3. c<br>\n7. g</p>",
    "3. a\n\n4. b": '<ol start="3">\n<li>\n<p>a</p>\n</li>\n<li>\n<p>b</p>\n</li>\n</ol>',
    "3. a\n   a\n4. b": '<ol start="3">\n<li>a<br>\na</li>\n<li>b</li>\n</ol>',
    "0) a\n1) b": '<ol start="0">\n<li>a</li>\n<li>b</li>\n</ol>',
    # Quotes.
    "> a\nb": "<blockquote>\n<p>a</p>\n</blockquote>\n<p>b</p>",
    ">a\n>b": "<blockquote>\n<p>a<br>\nb</p>\n</blockquote>",
    "> a\n>:(": "<blockquote>\n<p>a</p>\n</blockquote>\n<p>&gt;:(</p>",
    "> > a\n> b": "<blockquote>\n<blockquote>\n<p>a</p>\n</blockquote>\n<p>b</p>\n</blockquote>",
    # Rules and headings.
    "a\n---\nb": "<p>a</p>\n<hr>\n<p>b</p>",
    "***": "<hr>",
    "# a": "<p><strong>a</strong></p>",
    "# *a*": "<p><strong><em>a</em></strong></p>",
    "- # a": "<ul>\n<li>\n<p><strong>a</strong></p>\n</li>\n</ul>",
    "## 1. a": "<p><strong>1. a</strong></p>",
    "### a\nb": "<p><strong>a</strong></p>\n<p>b</p>",
    # Emphasis.
    "*a* **b** _c_ __d__ ~~e~~": "<p><em>a</em> <strong>b</strong> <em>c</em> <strong>d</strong> "
    "<s>e</s></p>",
    "**apple**s": "<p><strong>apple</strong>s</p>",
    "**_a_** _**b**_": "<p><strong><em>a</em></strong> <em><strong>b</strong></em></p>",
    "これは**「重要」**です": "<p>これは<strong>「重要」</strong>です</p>",
    "**你好，**世界": "<p><strong>你好，</strong>世界</p>",
    "这~~“不”~~好": "<p>这<s>“不”</s>好</p>",
    "我可以**这个`a`**吗": "<p>我可以<strong>这个<code>a</code></strong>吗</p>",
    "葛\U000e0100**（か）**城": "<p>葛\U000e0100<strong>（か）</strong>城</p>",
    "\U0001f600**a**": "<p>\U0001f600<strong>a</strong></p>",
    # Backslashes and entities.
    "\\*a\\* \\# \\> \\\\": "<p>*a* # &gt; \\</p>",
    "1\\. a": "<p>1. a</p>",
    "&amp; &copy; `&amp;`": "<p>&amp; © <code>&amp;amp;</code></p>",
}


@pytest.mark.parametrize("text", MEANT)
def test_markdown_is_read(text: str) -> None:
    assert render(text) == MEANT[text]


URLS = [
    # The text, the link's text, and its address if that differs.
    ("see https://a.example/b.", "https://a.example/b", ""),
    ("(https://a.example/b)", "https://a.example/b", ""),
    ("(see https://a.example/b).", "https://a.example/b", ""),
    ("https://a.example/b_(c)", "https://a.example/b_(c)", ""),
    ("(https://a.example/b_(c)), d", "https://a.example/b_(c)", ""),
    ("https://a.example/b_(c_(d))/e)", "https://a.example/b_(c_(d))/e", ""),
    ("https://a.example/b(c", "https://a.example/b", ""),
    ("https://a.example/b)https", "https://a.example/b", ""),
    ("https://a.example/_b_c_/d*", "https://a.example/_b_c_/d", ""),
    ("**https://a.example/b**", "https://a.example/b", ""),
    ("_https://a.example/b_", "https://a.example/b", ""),
    ("~~https://a.example/b~~", "https://a.example/b", ""),
    ('"https://a.example/b"', "https://a.example/b", ""),
    ("\u00abhttps://a.example/b\u00bb", "https://a.example/b", ""),
    ("https://a.example/b?c=d&e=f#g!", "https://a.example/b?c=d&amp;e=f#g", ""),
    ("https://a.example/?b&amp;c", "https://a.example/?b&amp;c", ""),
    ("http://localhost:3000/b", "http://localhost:3000/b", ""),
    ("HTTPS://A.example", "HTTPS://A.example", ""),
    ("www.a.example, b", "www.a.example", "http://www.a.example"),
    ("看https://a.example/b很好。", "https://a.example/b", ""),
    ("看https://a.example很好", "https://a.example", ""),
    ("看www.a.example。", "www.a.example", "http://www.a.example"),
    ("（https://a.example/b）", "https://a.example/b", ""),
    ("「https://a.example/b」", "https://a.example/b", ""),
    ("https://a.example/b，c", "https://a.example/b", ""),
    ("https://a.example/b\U0001f600", "https://a.example/b", ""),
    ("https://a.example/b\u202ec\u202c", "https://a.example/b", ""),
    ("https://a.example/中文", "https://a.example/中文", "https://a.example/%E4%B8%AD%E6%96%87"),
    ("https://例え.jp/あ。", "https://例え.jp/あ", "https://xn--r8jz45g.jp/%E3%81%82"),
    ("https://a.example@b.example/", "https://a.example", ""),
    ("- https://a.example/b", "https://a.example/b", ""),
    ("> https://a.example/b", "https://a.example/b", ""),
    ("https://a.example/<b>", "https://a.example/", ""),
]


@pytest.mark.parametrize(("text", "name", "address"), URLS)
def test_a_plain_url_is_a_link(text: str, name: str, address: str) -> None:
    html = render(text)

    assert re.findall("<a .*?</a>", html) == [LINK.format(address or name, name)]
    assert render(f"`{text}`").count("<a") == 0


@pytest.mark.parametrize(
    "text",
    ["[see https://a.example](https://b.example)", "[www.a.example](https://b.example)"],
)
def test_a_url_in_the_words_of_a_link_is_text(text: str) -> None:
    html = render(text)

    assert html.count("<a ") == 1
    assert 'href="https://b.example"' in html


def test_a_name_in_a_url_mentions_nobody() -> None:
    assert "mention" not in render("https://a.example/@Ann", Mention(id="ann", name="Ann"))


PICTURES = {
    "![a *duck*](https://a.example/d.png)": ("https://a.example/d.png", "a duck"),
    "![](https://a.example/d.png)": ("https://a.example/d.png", "a.example"),
    "![ ](https://a.example/d.png 'title')": ("https://a.example/d.png", "a.example"),
    "![a][b]\n\n[b]: https://a.example/d.png": ("https://a.example/d.png", "a"),
    "[![a](https://a.example/d.png)](https://b.example)": ("https://b.example", "a"),
    "![](HTTPS://A.example/d.png)": ("HTTPS://A.example/d.png", "a.example"),
}


@pytest.mark.parametrize("text", PICTURES)
def test_a_picture_is_a_link_where_none_are_shown(text: str) -> None:
    assert render(text) == f"<p>{LINK.format(*PICTURES[text])}</p>"
    assert "<img" in render(text, images=True)


LINES = [
    each.split("\t")
    for each in (Path(__file__).parent / "lines_of_scripts.txt").read_text().splitlines()
]


def test_the_lines_are_of_twenty_scripts() -> None:
    assert len(LINES) == 100
    assert len({script for script, _, _ in LINES}) == 20


def _lines(kind: str) -> list[str]:
    return [line for _, own, line in LINES if own == kind]


@pytest.mark.parametrize("line", [*_lines("plain"), *_lines("typed")])
def test_a_line_of_any_script_is_shown_as_typed(line: str) -> None:
    assert shown(line) == line


@pytest.mark.parametrize("line", _lines("bold"))
def test_marks_in_any_script_are_read(line: str) -> None:
    html = render(line)

    assert html.count("<strong>") == 1
    assert "*" not in html


@pytest.mark.parametrize("line", _lines("link"))
def test_a_url_between_words_of_any_script_is_a_link(line: str) -> None:
    url = "https://example.org/a"

    assert LINK.format(url, url) in render(line)
    assert shown(line) == line


@pytest.mark.parametrize("line", _lines("name"))
def test_a_name_of_any_script_is_mentioned(line: str) -> None:
    found = re.search("{@(.*)}", line)
    assert found is not None
    span = f'<span class="mention" data-person="p">@{found[1]}</span>'

    html = render(re.sub("[{}]", "", line), Mention(id="p", name=found[1]))

    assert html == f"<p>{entities.escape(re.sub('{.*}', '{}', line), quote=False).format(span)}</p>"


def page(client: Client) -> Client:
    client.as_("paula", roles=["publisher"]).put("/nodes/n", **PAGE)
    return client.as_("ann")


KEPT = {
    "    a = 1\n    b = 2": "    a = 1\n    b = 2",
    "  - a\n  - b": "  - a\n  - b",
    "\n \t\n\u3000\n  a\n  b  \n\n \n": "  a\n  b",
    "\u3000\u3000一\n二": "\u3000\u3000一\n二",
    "a  \r\n\tb\rc": "a  \n\tb\nc",
    "a\u2028b\u2029c": "a\nb\n\nc",
    "  a ": "a",
}


@pytest.mark.parametrize("text", KEPT)
def test_a_text_loses_blank_lines_at_its_ends_alone(client: Client, text: str) -> None:
    ann = page(client)

    made = ann.post("/nodes/n/comments", text=text)
    edited = ann.patch(f"/nodes/n/comments/{made.json['id']}", text=f"\n{text}\n\n")

    assert made.json["text"] == KEPT[text]
    assert ann.post("/preview", text=text).json["html"] == made.json["html"]
    assert edited.json["text"] == KEPT[text]


def test_a_text_above_the_limit_is_refused_with_the_limit(client: Client) -> None:
    ann = page(client)
    made = ann.post("/nodes/n/comments", text="x").json["id"]

    for reply in (
        ann.post("/nodes/n/comments", text="x" * 10_001),
        ann.post("/preview", text="x" * 10_001),
        ann.patch(f"/nodes/n/comments/{made}", text="x" * 10_001),
    ):
        assert (reply.status, reply.code) == (422, "invalid_request")
        (fault,) = reply.json["errors"]
        assert (fault["field"], fault["code"]) == ("text", "string_too_long")
        assert "10000" in fault["detail"]


HOSTILE = {
    **{unit: unit for unit in ["*", "[", "_", ">", "~", "`", "\\", "#", "-", "1. ", "(", "!["]},
    "rules": "***\n",
    "stars within words": "a*b**",
    "stars within ideographs": "重**「",
    "faces": "*_*^_^",
    "urls": "https://a.example/ ",
    "starts of urls": "http://",
    "words like urls": "hhwwwh",
    "dots of a host": "www.",
    "brackets in a url": "https://a.example/(",
    "closing brackets in a url": "https://a.example/)",
    "one url": "https://a.example/" + "(" * 50 + ")" * 60,
    "urls beside brackets": "https://a.b/)",
    "urls before pairs": "https://a.b/(()",
    "bare hosts": "www.a.b",
    "numbers": "5. a\n",
    "numbers that count": "1. a\n2. b\n",
    "numbers far apart": "5. a\n\n\n\n",
    "numbers with text": "5. a\n      b\n",
    "single numbers": "1. a\nb\n",
    "quotes and answers": "> a\nb\n",
    "quotes of smileys": ">>>>:(\n",
    "indents": "    a\n\n",
    "code": "    a\n    a\nb\n",
    "pluses": "+ a\n- b\n",
    "asides": "* a *\n",
    "marks alone": "a\n- b\n\n\n",
    "apostrophes": "a`",
    "apostrophes and code": "a`b`` ",
    "ideographic spaces": "\u3000\n\u3000a\n",
    "pictures": "![](https://a.example/b.png)",
    "mentions": "谢@小",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_the_cost_of_a_typed_text_grows_with_its_length(name: str) -> None:
    unit = HOSTILE[name]
    people = [Mention(id="p", name="小")]

    def work(characters: int) -> int:
        text = (unit * characters)[:characters]
        run: Callable[[], str] = partial(
            rendering.render, text, Mentions(people), is_new=False, max_bytes=10_000_000
        )
        return calls(run)

    work(100)
    assert work(10_000) < 2.6 * work(5_000)
    assert work(10_000) < MOST_CALLS_A_CHARACTER * 10_000
