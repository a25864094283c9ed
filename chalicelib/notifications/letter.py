"""A letter of notifications: its subject, its text, and its HTML.

Other people write the names, titles and comments in a letter. The letter shows them without control
and directional characters, so that they change no header, line or direction of other text.
"""

import re
import unicodedata
from collections.abc import Callable, Sequence
from html import escape

from chalicelib.languages import Language, direction
from chalicelib.notifications.event_words import EVENT_WORDS
from chalicelib.notifications.groups import MOST_COUNTED
from chalicelib.notifications.inbox import TEXT_CHARACTERS, InboxRow
from chalicelib.notifications.mailing import MailSetting
from chalicelib.notifications.words import MAIL_WORDS

# The most groups that a letter lists; its subject counts all.
MOST_LISTED = 20
MAX_SUBJECT_CHARACTERS = 150
# The most characters of a name and of a title that a letter shows, and of a URL that it links to.
# Twenty things of this length, each character escaped, fit into a letter's largest size.
_NAME_CHARACTERS, _TITLE_CHARACTERS, _URL_CHARACTERS = 100, 300, 2_048
_STYLE = "font-family: sans-serif; line-height: 1.5; max-width: 40em"
# Isolates around a name: its direction does not change the text around it (UAX #9).
_ISOLATED = "\u2068{}\u2069"
_SCHEMES = ("https://", "http://")


def subject_of(row: MailSetting, shown: Sequence[InboxRow]) -> str:
    """Return the subject: one group's event and page, or the number of several groups."""
    return headline(row["language"], shown)


def headline(language: Language, shown: Sequence[InboxRow]) -> str:
    """Return one group's event and page, or the number of several groups; up to 150 characters."""
    words = MAIL_WORDS[language]
    if len(shown) == 1:
        head, title = _head(language, shown[0], "{}"), line(shown[0].thing.page_title)
        text = f"{head}: {title}" if title else head
    else:
        text = f"{words.notifications} ({_number(len(shown))})"
    return _cut(text, MAX_SUBJECT_CHARACTERS)


def text_of(row: MailSetting, shown: Sequence[InboxRow], stop_url: str) -> str:
    """Return the letter as text."""
    words = MAIL_WORDS[row["language"]]
    parts = [_item_text(row, each) for each in shown[:MOST_LISTED]]
    if len(shown) > MOST_LISTED:
        parts.append(words.more)
    parts.append(f"{words.why}\n{words.stop}: {stop_url}")
    return "\n\n".join(parts) + "\n"


def _item_text(row: MailSetting, shown: InboxRow) -> str:
    lines = [event_line(row["language"], shown)]
    if title := _title(shown):
        lines.append(_ISOLATED.format(title))
    quoted = [f"> {each}" for each in _lines(shown)]
    return "\n".join([*lines, *quoted, *_links(shown)])


def html_of(row: MailSetting, shown: Sequence[InboxRow], stop_url: str) -> str:
    """Return the letter as HTML."""
    language, words = row["language"], MAIL_WORDS[row["language"]]
    items = "\n".join(_item_html(row, each) for each in shown[:MOST_LISTED])
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


def _item_html(row: MailSetting, shown: InboxRow) -> str:
    names = _names(shown, lambda name: f"<bdi>{escape(name)}</bdi>")
    head = escape(_sentence(row["language"], shown)).format(name=names)
    title = escape(_title(shown))
    lines = (escape(each) for each in _lines(shown))
    opens = escape(MAIL_WORDS[row["language"]].open)
    links = (f'<p><a href="{escape(each)}">{opens}</a></p>' for each in _links(shown))
    page = f"<br><bdi>{title}</bdi>" if title else ""
    quoted = "<br>".join(lines)
    return (
        f'<p><b>{head}</b>{page}</p>\n<blockquote dir="auto">{quoted}</blockquote>\n'
        f"{''.join(links)}\n<hr>"
    )


def _title(shown: InboxRow) -> str:
    return _cut(line(shown.thing.page_title), _TITLE_CHARACTERS)


def _lines(shown: InboxRow) -> list[str]:
    """Return the lines of a thing's beginning that are not blank."""
    lines = shown.thing.text[:TEXT_CHARACTERS].splitlines()
    return [line(each) for each in lines if each.strip()]


def _sentence(language: Language, shown: InboxRow) -> str:
    return EVENT_WORDS[language][shown.item["kind"]]


def event_line(language: Language, shown: InboxRow) -> str:
    """Return the sentence of an event, with its people."""
    return _head(language, shown, _ISOLATED)


def _head(language: Language, shown: InboxRow, around: str) -> str:
    return _sentence(language, shown).format(name=_names(shown, around.format))


def _names(row: InboxRow, around: Callable[[str], str]) -> str:
    """Return the newest people of a group, and the number of all people if it is larger."""
    names = ", ".join(around(_cut(line(each.name), _NAME_CHARACTERS)) for each in row.actors)
    if row.people == len(row.actors):
        return names
    return f"{names} ({_number(row.people)})"


def _number(counted: int) -> str:
    return f"{counted}" if counted < MOST_COUNTED else f"{MOST_COUNTED - 1}+"


def _links(row: InboxRow) -> list[str]:
    """Return [URL of the thing], or [] unless it is an HTTP URL of allowed length."""
    url = row.thing.permalink
    is_of_web = url.startswith(_SCHEMES) and not re.search(r"\s", url)
    is_link = is_of_web and len(url) <= _URL_CHARACTERS
    return [url] if is_link else []


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def line(text: str) -> str:
    """Return a text as one line, without control and directional characters."""
    shown = (" " if _is_control(each) else each for each in text if not _is_mark(each))
    return " ".join("".join(shown).split())


def _is_control(character: str) -> bool:
    return unicodedata.category(character) in {"Cc", "Zl", "Zp"}


def _is_mark(character: str) -> bool:
    """Return whether a character changes the direction of its neighbours."""
    return character in "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
