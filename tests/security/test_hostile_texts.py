"""Texts that mean harm, as a browser's own parser reads what is made of them.

Every vector goes through every wrapper; the parser is Lexbor, which follows the HTML standard.
"""

from collections.abc import Callable, Iterator

import pytest
from selectolax.lexbor import LexborHTMLParser, LexborNode

from chalicelib.comments.rendering import render
from chalicelib.errors import Problem

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

ADDRESSES = (
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    "java\tscript:alert(1)",
    "&#106;avascript:alert(1)",
    "&#x6A;avascript&colon;alert(1)",
    "%6aavascript:alert(1)",
    "\x01javascript:alert(1)",
    "javascript&#58;alert(1)",
    "javascript:alert(1)//https://a.example",
    "data:text/html,<script>alert(1)</script>",
    "data:image/svg+xml;base64,PHN2Zz4=",
    "vbscript:msgbox(1)",
    "file:///etc/passwd",
    "blob:https://a.example/x",
    "about:blank",
    "//evil.example",
    "/\\evil.example",
    "\\\\evil.example",
    "?action=delete",
    "#x",
    "https:evil.example",
    "http:///evil.example",
    'https://a.example/" onmouseover=alert(1) x="',
    "https://a.example/' onclick='alert(1)",
    "https://a.example/<script>alert(1)</script>",
)
MARKUP = (
    "<script>alert(1)</script>",
    "<ScRiPt src=https://evil.example/x.js></sCrIpT>",
    "<scr<script>ipt>alert(1)</scr</script>ipt>",
    "<img src=x onerror=alert(1)>",
    "<img/src='x'/onerror='alert(1)'>",
    "<svg/onload=alert(1)>",
    "<svg><script>alert(1)</script></svg>",
    "<svg><animate onbegin=alert(1) attributeName=x>",
    "<svg><style><img src=x onerror=alert(1)></style></svg>",
    "<math><mtext><table><mglyph><style><!--</style><img title='--><img src=1 onerror=alert(1)>'>",
    "<math><mi><mglyph><svg><mtext><textarea><path id='</textarea><img onerror=alert(1) src=1>'>",
    "<noscript><p title='</noscript><img src=x onerror=alert(1)>'>",
    "<textarea><img title='</textarea><img src=x onerror=alert(1)>'>",
    "<xmp><p title='</xmp><img src=x onerror=alert(1)>'>",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "<iframe src=javascript:alert(1)>",
    "<object data=javascript:alert(1)>",
    "<embed src=javascript:alert(1)>",
    "<form action=javascript:alert(1)><input type=submit>",
    "<button formaction=javascript:alert(1)>x",
    "<a href=javascript:alert(1)>x</a>",
    "<base href=https://evil.example/>",
    "<meta http-equiv=refresh content='0;url=javascript:alert(1)'>",
    "<link rel=stylesheet href=https://evil.example/x.css>",
    "<style>@import 'https://evil.example/x.css'</style>",
    "<div style='background:url(javascript:alert(1))'>",
    "<body onload=alert(1)>",
    "<details open ontoggle=alert(1)>",
    "<video><source onerror=alert(1)>",
    "<input autofocus onfocus=alert(1)>",
    "<marquee onstart=alert(1)>",
    "<template><script>alert(1)</script></template>",
    "<!--><script>alert(1)</script-->",
    "<!--[if gte IE 4]><script>alert(1)</script><![endif]-->",
    "<![CDATA[<script>alert(1)</script>]]>",
    "<?xml-stylesheet href='javascript:alert(1)'?>",
    "<x onclick=alert(1)>x</x>",
    "<custom-element is=script>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "&#60;script&#62;alert(1)&#60;/script&#62;",
    "\\<script\\>alert(1)\\</script\\>",
    "<plaintext>",
    "</p></div></body></html><script>alert(1)</script>",
    "<a\x0bhref=javascript:alert(1)>x",
    "<\u017fcript>alert(1)</\u017fcript>",
)
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
