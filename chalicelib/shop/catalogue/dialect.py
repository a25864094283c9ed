"""The Markdown of products' texts: paragraphs, lists and links, no pictures or tables."""

from chalicelib.markdown import Dialect

_TAGS = frozenset("a blockquote br code em h2 h3 h4 hr li ol p pre s strong ul".split())  # noqa: SIM905
_ATTRIBUTES = {"a": {"href", "title"}, "ol": {"start"}}
DIALECT = Dialect(_TAGS, _ATTRIBUTES, "nofollow noopener", without=("table", "image"))
