"""A letter of notifications: its subject, its text, and the same as HTML.

Names, titles and comments are of other people. A letter shows them without control characters and
marks of direction, so that none changes a header, a line or the direction of its neighbours.
"""

import re
import unicodedata
from collections.abc import Callable, Sequence
from html import escape

from chalicelib.languages import direction
from chalicelib.notifications.groups import MOST_COUNTED
from chalicelib.notifications.inbox import InboxRow
from chalicelib.notifications.mailing import MailSetting
from chalicelib.notifications.rows import Kind
from chalicelib.notifications.words import MAIL_WORDS, MailWords

# A letter lists so many; its subject counts all.
MOST_LISTED = 20
MAX_SUBJECT_CHARACTERS = 150
_STYLE = "font-family: sans-serif; line-height: 1.5; max-width: 40em"
# The bounds that text gets around a name, so that its direction stays its own (UAX #9).
_ISOLATED = "\u2068{}\u2069"
_SCHEMES = ("https://", "http://")


def subject_of(row: MailSetting, shown: Sequence[InboxRow]) -> str:
    """Return the subject: the event and its page, or the number of several."""
    words = MAIL_WORDS[row["language"]]
    if len(shown) == 1:
        head, title = _head(words, shown[0], "{}"), _line(shown[0].thing.page_title)
        text = f"{head}: {title}" if title else head
    else:
        text = f"{words.notifications} ({_number(len(shown))})"
    is_long = len(text) > MAX_SUBJECT_CHARACTERS
    return f"{text[: MAX_SUBJECT_CHARACTERS - 1]}…" if is_long else text


def text_of(row: MailSetting, shown: Sequence[InboxRow], stop_url: str) -> str:
    """Return the letter as text."""
    words = MAIL_WORDS[row["language"]]
    parts = [_item_text(words, each) for each in shown[:MOST_LISTED]]
    if len(shown) > MOST_LISTED:
        parts.append(words.more)
    parts.append(f"{words.why}\n{words.stop}: {stop_url}")
    return "\n\n".join(parts) + "\n"


def _item_text(words: MailWords, row: InboxRow) -> str:
    lines = [_head(words, row, _ISOLATED)]
    if title := _line(row.thing.page_title):
        lines.append(_ISOLATED.format(title))
    quoted = [f"> {_line(each)}" for each in row.thing.text.splitlines() if each.strip()]
    return "\n".join([*lines, *quoted, *_links(row)])


def html_of(row: MailSetting, shown: Sequence[InboxRow], stop_url: str) -> str:
    """Return the letter as HTML."""
    language, words = row["language"], MAIL_WORDS[row["language"]]
    items = "\n".join(_item_html(words, each) for each in shown[:MOST_LISTED])
    more = f"\n<p>{escape(words.more)}</p>" if len(shown) > MOST_LISTED else ""
    stop = f'<a href="{escape(stop_url)}">{escape(words.stop)}</a>'
    return f"""<!doctype html>
<html lang="{language}" dir="{direction(language)}">
<head><meta charset="utf-8"><title>{escape(subject_of(row, shown))}</title></head>
<body style="{_STYLE}">
{items}{more}
<p><small>{escape(words.why)} {stop}</small></p>
</body>
</html>
"""


def _item_html(words: MailWords, row: InboxRow) -> str:
    names = _names(row, lambda name: f"<bdi>{escape(name)}</bdi>")
    head = escape(_event(words, row)).format(name=names)
    title = escape(_line(row.thing.page_title))
    lines = (escape(_line(each)) for each in row.thing.text.splitlines() if each.strip())
    links = (f'<p><a href="{escape(each)}">{escape(words.open)}</a></p>' for each in _links(row))
    page = f"<br><bdi>{title}</bdi>" if title else ""
    quoted = "<br>".join(lines)
    return (
        f'<p><b>{head}</b>{page}</p>\n<blockquote dir="auto">{quoted}</blockquote>\n'
        f"{''.join(links)}\n<hr>"
    )


def _event(words: MailWords, row: InboxRow) -> str:
    said: dict[Kind, str] = {
        "comment.reply": words.replied,
        "comment.mention": words.mentioned,
        "comment.watched": words.watched,
        "follow": words.followed,
        "post.comment": words.commented,
        "post.reaction": words.reacted,
        "post.wall": words.on_wall,
    }
    return said[row.item["kind"]]


def _head(words: MailWords, row: InboxRow, around: str) -> str:
    return _event(words, row).format(name=_names(row, around.format))


def _names(row: InboxRow, around: Callable[[str], str]) -> str:
    """Return the newest people of a group, and the number of all if there are more."""
    names = ", ".join(around(_line(each.name)) for each in row.actors)
    if row.people == len(row.actors):
        return names
    return f"{names} ({_number(row.people)})"


def _number(counted: int) -> str:
    return f"{counted}" if counted < MOST_COUNTED else f"{MOST_COUNTED - 1}+"


def _links(row: InboxRow) -> list[str]:
    """Return the address of a comment, if a browser opens it."""
    url = row.thing.permalink
    is_link = url.startswith(_SCHEMES) and not re.search(r"\s", url)
    return [url] if is_link else []


def _line(text: str) -> str:
    """Return a text as one line, without control characters and marks of direction."""
    shown = (" " if _is_control(each) else each for each in text if not _is_mark(each))
    return " ".join("".join(shown).split())


def _is_control(character: str) -> bool:
    return unicodedata.category(character) in {"Cc", "Zl", "Zp"}


def _is_mark(character: str) -> bool:
    """Return whether a character changes the direction of its neighbours."""
    return character in "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
