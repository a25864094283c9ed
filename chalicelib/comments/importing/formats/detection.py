"""The formats by name, and the format of a file by its beginning."""

import re
from collections.abc import Mapping

from chalicelib.comments.importing.formats import (
    artalk,
    commento,
    disqus,
    github,
    isso,
    own_lines,
    remark42,
    twikoo,
    waline,
    wordpress,
)
from chalicelib.comments.importing.shapes import Parser
from chalicelib.foreign.streams import uncompressed_head

# The bytes at a file's beginning that `detect` reads.
HEAD_BYTES = 16_384
PARSERS: Mapping[str, Parser] = {
    "plaza": own_lines.parse,
    "disqus": disqus.parse,
    "wordpress": wordpress.parse,
    "isso": isso.parse,
    "remark42": remark42.parse,
    "commento": commento.parse,
    "twikoo": twikoo.parse,
    "waline": waline.parse,
    "artalk": artalk.parse,
    "github": github.parse,
}
# Patterns of the formats, the surest first. They match JSON without its blanks, and XML as
# it stands.
_MARKS = (
    ("disqus", re.compile(r"<disqus\b")),
    ("wordpress", re.compile(r"<rss\b.*wordpress\.org/export/", re.DOTALL)),
    ("plaza", re.compile(r'\{"plaza":\d')),
    ("remark42", re.compile(r'\{"version":\d+,"(?:users|posts)":')),
    ("waline", re.compile(r'\{.*?"(?:type":"waline|Comment":\[)', re.DOTALL)),
    ("commento", re.compile(r'\{.*?"(?:commentHex|commenterHex|commenters)":', re.DOTALL)),
    ("github", re.compile(r'\[?\{"data":\{"repository":')),
    ("artalk", re.compile(r'\[?\{.*?"(?:page_key|is_pending)":', re.DOTALL)),
    ("twikoo", re.compile(r'\[?\{.*?"(?:isSpam|mailMd5)":', re.DOTALL)),
    ("isso", re.compile(r'\[\{.*?"(?:remote_addr|comments)":', re.DOTALL)),
    ("twikoo", re.compile(r'\[?\{.*?"nick":.*?"href":', re.DOTALL)),
    ("waline", re.compile(r'\[\{.*?"objectId":', re.DOTALL)),
)
_BLANKS = re.compile(r"[\s\ufeff]+")


def detect(head: bytes) -> str | None:
    """Return the name of a file's format by its first HEAD_BYTES; None: unknown."""
    head = uncompressed_head(head)
    if head.startswith(isso.SQLITE):
        return "isso"
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        text = head[: len(head) // 2 * 2].decode("utf-16", errors="replace")
    else:
        text = head.decode(errors="replace")
    # Blanks separate names within an XML tag; the patterns of JSON have none.
    bare = text if text.lstrip("\ufeff \r\n\t").startswith("<") else _BLANKS.sub("", text)
    bare = bare.lstrip("\ufeff \r\n\t")
    is_xml = bare.startswith("<")
    for name, mark in _MARKS:
        found = mark.search(bare) if is_xml else mark.match(bare)
        if found and is_xml == mark.pattern.startswith("<"):
            return name
    return None
