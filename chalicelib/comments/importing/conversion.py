"""Convert a file's threads and comments to rows, under Plaza's rules for texts, names and times.

A file is as hostile as any call: its authors get ids of their own, never an account's, and a time
in the future becomes the import's beginning.
"""

import contextlib
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Literal, NamedTuple, cast

from pydantic import SecretStr, TypeAdapter, ValidationError

from chalicelib.comments.forms import MAX_TEXT_CHARACTERS, Text
from chalicelib.comments.importing import own_fields
from chalicelib.comments.importing.identities import (
    OWN_FORMAT,
    PageAddresses,
    Source,
    account_id,
    address_key,
    comment_id,
    node_id,
    person_id,
    thread_id,
)
from chalicelib.comments.importing.rows import (
    MAX_BALLOTS,
    ROWS_KEPT,
    Ballot,
    StagedComment,
    StagedThread,
)
from chalicelib.comments.importing.shapes import (
    ImportedAuthor,
    ImportedComment,
    ImportedThread,
)
from chalicelib.comments.mentions import Mention
from chalicelib.comments.shapes import Author, Reason, State
from chalicelib.instants import in_utc
from chalicelib.people.names import acceptable
from chalicelib.texts import Line, Url, balance_directions, drop_controls

_EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
# Ends a text that the conversion cut to the bound.
_CUT = "\n\n\N{HORIZONTAL ELLIPSIS}"
_CONTROLS_BUT_LINES = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_NOBODY = "Anonymous"
_MOST_VOTES = 2**31 - 1
_TEXT: TypeAdapter[str] = TypeAdapter(Text)
_LINE: TypeAdapter[str] = TypeAdapter(Line)
_URL: TypeAdapter[str] = TypeAdapter(Url)


class UnusablePart(Exception):
    """The import leaves out a part of the file; `reason` is a stable code."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class FileConversion(NamedTuple):
    """The rules for the conversion of a file.

    run: the id of the import. reserved: names that authors may not have.
    at: the beginning of the import; a comment's later times become `at`.
    mail_keys: the keys that hash the mail addresses of authors; empty: rows have no hash.
    """

    source: Source
    run: str
    addresses: PageAddresses
    reserved: tuple[str, ...]
    at: datetime
    mail_keys: tuple[SecretStr, ...] = ()

    def thread(self, thread: ImportedThread, number: int) -> StagedThread:
        """Return the row of a thread; raises UnusablePart without a usable address.

        A thread in Plaza's own format needs no address.
        """
        url = self._url(thread)
        key = thread_id(thread.key)
        return {
            "_id": f"{self.run}/{key}",
            "run": self.run,
            "thread": key,
            "number": number,
            "node_id": node_id(self.source, thread, url),
            "url": url,
            "title": _line(thread.title) or _line(url) or key,
            "locked": thread.locked,
            "settings": own_fields.settings_of(self._own(thread)),
            "is_done": False,
            "counts": {},
            "samples": [],
            "expires": self.at + ROWS_KEPT,
        }

    def comment(self, comment: ImportedComment) -> tuple[StagedComment, list[str]]:
        """Return the row of a comment and the codes of its changes; raises UnusablePart.

        The codes: `future`, `renamed` and `cut`.
        """
        lost: list[str] = []
        posted = self._time(comment.posted, lost)
        is_gone = comment.state == "deleted"
        text = None if is_gone else _text(comment.text, lost)
        own = self._own(comment)
        key = thread_id(comment.thread)
        made = comment_id(self.source, comment.thread, comment.key)
        above = _answer_of(comment, own)
        parent = comment_id(self.source, comment.thread, above) if above else None
        ballots = _ballots(self.source, comment, own)
        row: StagedComment = {
            "_id": f"{self.run}/{key}/{made}",
            "run": self.run,
            "thread": key,
            "id": made,
            "parent": parent,
            "posted": posted,
            "order": _order(comment, own),
            "edited": None if is_gone or not comment.edited else self._time(comment.edited, []),
            "author": None if is_gone else self._author(comment, own, lost),
            "text": text,
            "state": cast("State", comment.state),
            "reasons": _reasons(comment, own),
            "up": _rest(comment.ups, ballots, 1),
            "down": _rest(comment.downs, ballots, -1),
            "ballots": ballots,
            "expires": self.at + ROWS_KEPT,
        }
        self._add_optional(row, comment, own)
        return row, lost

    def _own(self, part: ImportedThread | ImportedComment) -> Mapping[str, Any]:
        """Return the fields that only Plaza's own lines have; empty for other formats."""
        return (part.own or {}) if self.source.format == OWN_FORMAT else {}

    def _add_optional(
        self, row: StagedComment, comment: ImportedComment, own: Mapping[str, Any]
    ) -> None:
        email = comment.author.email if comment.author and row["author"] else None
        if email and (key := address_key(email, self.mail_keys)):
            row["email_key"] = key
        if comment.root:
            row["root"] = comment_id(self.source, comment.thread, comment.root)
        if featured := own_fields.instant_of(own.get("featured")):
            row["featured"] = min(featured, self.at)
        if shadow := own_fields.shadow_of(own):
            row["shadow"] = shadow
        if people := own_fields.mentioned_in(own):
            row["mentions"] = [
                Mention(id=account_id(self.source, each.account), name=each.name) for each in people
            ]

    def _url(self, thread: ImportedThread) -> str:
        try:
            url = self.addresses.of(thread.url)
            checked = _URL.validate_python(url) if url else ""
        except ValueError:
            raise UnusablePart("bad_address") from None
        is_path = bool(thread.url) and "://" not in (thread.url or "")
        if not checked and self.source.format != OWN_FORMAT:
            raise UnusablePart("path_without_base" if is_path else "no_address")
        return checked

    def _time(self, time: datetime, lost: list[str]) -> datetime:
        """Return a time cut to the millisecond, at most `at`; raises UnusablePart before 1970."""
        if time < _EARLIEST:
            raise UnusablePart("bad_time")
        if time > self.at:
            lost.append("future")
            return self.at
        return in_utc(time)

    def _author(self, comment: ImportedComment, own: Mapping[str, Any], lost: list[str]) -> Author:
        author = comment.author or ImportedAuthor(account=None, name="", email=None)
        role, badges = own_fields.role_of(own), own_fields.badges_of(own)
        name = acceptable(author.name[:100], self.reserved, is_staff=role is not None)
        if name is None:
            if author.name.strip():
                lost.append("renamed")
            name = _NOBODY
        made: Author = {"id": person_id(self.source, comment.thread, author), "name": name}
        if badges:
            made["badges"] = badges
        if role:
            made["role"] = role
        return made


def _answer_of(comment: ImportedComment, own: Mapping[str, Any]) -> str | None:
    """Return the key of the comment that a reply answers: its `reply_to`, or else its parent."""
    told = own.get("reply_to")
    return told if isinstance(told, str) else comment.parent


def _order(comment: ImportedComment, own: Mapping[str, Any]) -> str:
    """Return the sort key among comments of the same time: the number, or else the key."""
    seq = own.get("seq")
    if isinstance(seq, int):
        return f"{seq:020}"
    # Zeros before numbers make 10 sort after 9.
    return comment.key.zfill(20) if comment.key.isdecimal() else comment.key[:100]


def _text(text: str, lost: list[str]) -> str:
    """Return a text cut to the bound, with no control characters except tabs and line ends.

    A cut adds "cut" to `lost`. Raises UnusablePart for an empty or invalid text.
    """
    whole = _CONTROLS_BUT_LINES.sub("", text)
    if len(whole) > MAX_TEXT_CHARACTERS:
        lost.append("cut")
        whole = whole[: MAX_TEXT_CHARACTERS - len(_CUT)].rstrip() + _CUT
    try:
        return _TEXT.validate_python(balance_directions(whole))
    except ValidationError as error:
        is_empty = not whole.strip()
        raise UnusablePart("empty" if is_empty else error.errors()[0]["type"]) from None


def _line(text: str) -> str | None:
    with contextlib.suppress(ValidationError):
        return _LINE.validate_python(balance_directions(str(drop_controls(text))[:200]))
    return None


def _reasons(comment: ImportedComment, own: Mapping[str, Any]) -> list[Reason]:
    """Return the reasons that hold a comment: from Plaza's own line, or else from its state."""
    if own:
        return own_fields.reasons_of(own)
    by_state: Mapping[str, list[Reason]] = {"pending": ["before"], "spam": ["spam_check"]}
    return by_state.get(comment.state, [])


def _ballots(source: Source, comment: ImportedComment, own: Mapping[str, Any]) -> list[Ballot]:
    """Return the votes and reactions of each named person, for at most MAX_BALLOTS people."""
    made: dict[str, Ballot] = {}
    for account, value in comment.votes[:MAX_BALLOTS]:
        by = account_id(source, account)
        made[by] = {"by": by, "vote": _sign(value), "reactions": []}
    for account, keys in own_fields.reactions_in(own):
        by = account_id(source, account)
        if by in made or len(made) < MAX_BALLOTS:
            made.setdefault(by, {"by": by, "vote": 0, "reactions": []})["reactions"] = keys
    return list(made.values())


def _sign(value: int) -> Literal[-1, 0, 1]:
    return 1 if value > 0 else -1 if value < 0 else 0


def _rest(total: int, ballots: list[Ballot], sign: int) -> int:
    """Return the number of votes in a total that no ballot has; `sign`: 1 for, -1 against."""
    named = sum(1 for each in ballots if each["vote"] == sign)
    return min(max(0, total - named), _MOST_VOTES)
