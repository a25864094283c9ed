"""Plaza's own lines, as docs/imports.md defines them."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Annotated, Any, BinaryIO, Literal

from pydantic import AfterValidator, AwareDatetime, BaseModel, Field, TypeAdapter, ValidationError

from chalicelib.comments.forms import DEEPEST, CommentId
from chalicelib.comments.importing.formats.cleaning import MOST_VOTES, skip, text_of, url_of
from chalicelib.comments.importing.formats.comments_json import every_value
from chalicelib.comments.importing.formats.json_values import TOO_LARGE, JsonFile, JsonPart
from chalicelib.comments.importing.shapes import (
    ImportedAuthor,
    ImportedComment,
    ImportedThread,
    Item,
)
from chalicelib.comments.mentions import MAX_MENTIONS
from chalicelib.comments.node_ids import NodeId
from chalicelib.comments.shapes import (
    MAX_BADGES,
    MAX_PINNED,
    MAX_REASONS,
    AuthorRole,
    ListingOrder,
    Moderation,
    Reason,
    Shadow,
    ShownBadge,
    State,
    StoreName,
    Votes,
)
from chalicelib.marks.shapes import MAX_REACTIONS, ReactionKey

VERSION = 1


def _in_utc(time: datetime) -> datetime:
    try:
        time = time.astimezone(UTC)
    except OverflowError:
        # Pydantic turns a ValueError into a ValidationError, but lets an OverflowError through.
        raise ValueError("no year in UTC") from None
    return time.replace(microsecond=time.microsecond // 1_000 * 1_000)


Time = Annotated[AwareDatetime, AfterValidator(_in_utc)]
# Wider than Plaza's own ids: people of an issuer or an import have others.
PersonId = Annotated[str, Field(min_length=1, max_length=64)]
Count = Annotated[int, Field(ge=0, le=MOST_VOTES)]


class _Export(BaseModel):
    kind: Literal["export"]
    plaza: int


class _Node(BaseModel):
    kind: Literal["node"]
    id: NodeId
    url: str | None
    title: str
    locked: bool
    store: StoreName | None = None
    threaded: bool | None = None
    max_depth: Annotated[int, Field(ge=1, le=DEEPEST)] | None = None
    moderation: Moderation | None = None
    votes: Votes | None = None
    order: ListingOrder | None = None
    slow_seconds: Annotated[int, Field(ge=0)] | None = None
    opens_at: Time | None = None
    closes_at: Time | None = None
    public_from: Time | None = None
    public_until: Time | None = None
    pinned: Annotated[list[CommentId], Field(max_length=MAX_PINNED)] = []


class _Author(BaseModel):
    id: PersonId
    name: str
    badges: Annotated[list[ShownBadge], Field(max_length=MAX_BADGES)] = []
    role: AuthorRole | None = None


class _Mention(BaseModel):
    id: PersonId
    name: str


class _Comment(BaseModel):
    kind: Literal["comment"]
    id: CommentId
    seq: int = 0
    parent: CommentId | None
    reply_to: CommentId | None = None
    slug: str = ""
    posted: Time
    edited: Time | None
    author: _Author | None
    text: str
    state: State
    shadow: Shadow | None = None
    reasons: Annotated[list[Reason], Field(max_length=MAX_REASONS)] = []
    spam_since: Time | None = None
    featured: Time | None = None
    mentions: Annotated[list[_Mention], Field(max_length=MAX_MENTIONS)] = []
    up: Count
    down: Count
    votes: list[tuple[PersonId, Literal[-1, 1]]]
    reactions: list[
        tuple[PersonId, Annotated[list[ReactionKey], Field(max_length=MAX_REACTIONS)]]
    ] = []


class _End(BaseModel):
    kind: Literal["end"]
    nodes: int
    comments: int


_LINES: TypeAdapter[_Export | _Node | _Comment | _End] = TypeAdapter(
    Annotated[_Export | _Node | _Comment | _End, Field(discriminator="kind")]
)
_KIND = re.compile(r'"kind"\s*:\s*"(\w+)"')
# The fields of a line that items of all formats have; the others go into `own`.
_SHARED = {"kind", "id", "url", "title", "locked", "parent", "posted", "edited", "text", "up"}
_SHARED_OF_COMMENT = {*_SHARED, "down", "votes", "author"}


def parse(stream: BinaryIO) -> Iterator[Item]:
    """Yield the nodes of an export, each before its comments."""
    file = JsonFile(stream)
    reader = _Reader(file)
    for found in every_value(file, {()}):
        yield from reader.items(found)
    reader.check_end()


class _Reader:
    def __init__(self, file: JsonFile) -> None:
        self._file = file
        self._begun = False
        self._end: _End | None = None
        self._node: str | None = None
        self._counts = {"node": 0, "comment": 0}

    def items(self, found: JsonPart) -> Iterator[Item]:
        """Yield the item of a line, or a Skipped for a malformed node or comment.

        Raises BrokenFile for a line at the wrong place, and for a malformed first or last line.
        """
        if self._end is not None:
            raise self._file.fail("a line follows the last line")
        kind = _kind_of(found)
        if not self._begun and kind != "export":
            raise self._file.fail("the first line is not of an export")
        if kind in self._counts:
            self._counts[kind] += 1
        try:
            # This also takes arrays as tuples, and texts as times.
            line = _LINES.validate_python(found.value)
        except ValidationError as fault:
            if not self._begun or kind == "end":
                raise self._file.fail(f"the line is malformed: {_detail(fault)}") from None
            if kind == "node":
                self._node = None
            if found.value is TOO_LARGE:
                yield skip("too_large", f"line {found.line}", found.sample)
            else:
                yield skip(_code(kind), f"line {found.line}: {_detail(fault)}", found.sample)
            return
        yield from self._items_of(line, found)

    def check_end(self) -> None:
        """Raise BrokenFile if the last line is missing, or its counts differ from the file's."""
        if self._end is None:
            raise self._file.fail("the file ends early: its last line is missing")
        counts = {"node": self._end.nodes, "comment": self._end.comments}
        if counts != self._counts:
            raise self._file.fail(f"the last line counts {counts}, the file has {self._counts}")

    def _items_of(self, line: _Export | _Node | _Comment | _End, found: JsonPart) -> Iterator[Item]:
        match line:
            case _Export():
                if self._begun or line.plaza != VERSION:
                    raise self._file.fail(f"version {line.plaza} at this place is unknown")
                self._begun = True
            case _Node():
                self._node = line.id
                yield _thread(line)
            case _Comment():
                if self._node is None:
                    yield skip("thread_skipped", f"line {found.line}", found.sample)
                else:
                    yield _comment(line, self._node)
            case _End():
                self._end = line


def _kind_of(found: JsonPart) -> str:
    """Return the kind of a line; empty: none. For a too large line, look at its beginning only."""
    if found.value is TOO_LARGE:
        named = _KIND.search(found.sample)
        return named[1] if named else ""
    kind = found.value.get("kind") if isinstance(found.value, dict) else None
    return kind if isinstance(kind, str) else ""


def _code(kind: str) -> str:
    return "malformed" if kind in {"node", "comment"} else "unknown_kind"


def _detail(fault: ValidationError) -> str:
    first = fault.errors(include_url=False, include_input=False)[0]
    return f"{'.'.join(map(str, first['loc'][1:]))}: {first['msg']}"


def _thread(line: _Node) -> ImportedThread:
    return ImportedThread(
        key=line.id,
        url=url_of(line.url),
        title=line.title,
        locked=line.locked,
        own=line.model_dump(exclude=_SHARED, exclude_unset=True),
    )


def _author(author: _Author) -> ImportedAuthor:
    return ImportedAuthor(account=author.id, name=author.name, email=None)


def _comment(line: _Comment, node: str) -> ImportedComment:
    author = line.author
    return ImportedComment(
        thread=node,
        key=line.id,
        parent=line.parent,
        posted=line.posted,
        edited=line.edited,
        author=None if author is None else _author(author),
        text=text_of(line.text),
        state="deleted" if line.state == "removed" else line.state,
        ups=line.up,
        downs=line.down,
        votes=tuple(line.votes),
        own=_own(line),
    )


def _own(line: _Comment) -> dict[str, Any]:
    own = line.model_dump(exclude=_SHARED_OF_COMMENT, exclude_unset=True)
    if line.author is not None:
        own |= line.author.model_dump(include={"badges", "role"}, exclude_unset=True)
    return own
