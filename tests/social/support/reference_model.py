"""The rules of the social feed as a plain model: dictionaries, sets and lists."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

COMMENTS_SHOWN = 3


@dataclass
class ModelComment:
    """A comment on a post."""

    id: str
    by: str
    text: str


@dataclass
class ModelPost:
    """A post with all that was ever said on it."""

    id: str
    by: str
    wall: str
    circles: list[str]
    kept: frozenset[str] | None
    ts: datetime
    text: str
    comments: list[ModelComment] = field(default_factory=list)

    @property
    def position(self) -> tuple[datetime, str]:
        return self.ts, self.id


@dataclass
class Village:
    """The names, circles and blocks of users, and the posts that were not deleted."""

    names: dict[str, str] = field(default_factory=dict)
    circles: dict[tuple[str, str], set[str]] = field(default_factory=dict)
    blocks: set[tuple[str, str]] = field(default_factory=set)
    posts: dict[str, ModelPost] = field(default_factory=dict)

    def blocked(self, one: str, other: str) -> bool:
        return (one, other) in self.blocks or (other, one) in self.blocks

    def follows(self, reader: str, author: str) -> bool:
        return any(author in m for (owner, _), m in self.circles.items() if owner == reader)

    def members(self, owner: str, named: list[str]) -> set[str]:
        found: set[str] = set()
        for (who, circle_id), members in self.circles.items():
            if who == owner and (named == ["*circles*"] or circle_id in named):
                found |= members
        return found

    def delete_circle(self, owner: str, circle_id: str) -> None:
        """Delete a circle; a later one of its id is not the one that posts went to."""
        if self.circles.pop((owner, circle_id), None) is None:
            return
        for post in self.posts.values():
            if post.by == owner:
                post.circles = ["(deleted)" if each == circle_id else each for each in post.circles]

    def block(self, one: str, other: str) -> None:
        self.blocks.add((one, other))
        for (owner, _), members in self.circles.items():
            if owner in {one, other}:
                members -= {one, other}

    def addressed(self, reader: str, post: ModelPost) -> bool:
        """Tell whether a reader is in the circles that a post was written to."""
        if post.circles == ["*public*"]:
            return False
        return reader in (self.members(post.by, post.circles) if post.kept is None else post.kept)

    def may_see(self, reader: str, post: ModelPost) -> bool:
        if reader == post.by:
            return True
        if self.blocked(reader, post.by):
            return False
        public = post.circles == ["*public*"]
        return public or reader == post.wall or self.addressed(reader, post)

    def wall_for(self, author: str, wanted: str | None) -> str:
        """Return on whose wall a post stands that is written now."""
        blocked = wanted is not None and (wanted, author) in self.blocks
        return author if wanted is None or blocked else wanted

    def followers(self, user: str) -> list[tuple[str, str]]:
        return [(name, self.names[name]) for name in sorted(self.names) if self.follows(name, user)]

    def view(self, name: str, reader: str) -> list[ModelPost]:
        """Return what a reader sees of `news`, `incoming`, or the wall of a named user."""
        views = {"news": self._news, "incoming": self._incoming}
        posts = views[name](reader) if name in views else self._wall(name, reader)
        return [post for post in posts if self.may_see(reader, post)]

    def _news(self, reader: str) -> Iterable[ModelPost]:
        return (post for post in self._all() if self.follows(reader, post.by))

    def _incoming(self, reader: str) -> Iterable[ModelPost]:
        sent = (p for p in self._all() if p.wall == reader or self.addressed(reader, p))
        return (post for post in sent if post.by != reader)

    def _wall(self, owner: str, reader: str) -> Iterable[ModelPost]:
        return (p for p in self._all() if p.by == owner or self._stands_on(owner, reader, p))

    def _stands_on(self, owner: str, reader: str, post: ModelPost) -> bool:
        if post.wall != owner or self.blocked(owner, post.by):
            return False
        return reader in {owner, post.by} or self.follows(owner, post.by)

    def _all(self) -> list[ModelPost]:
        return sorted(self.posts.values(), key=lambda post: post.position, reverse=True)

    def shown(self, reader: str, post: ModelPost) -> Any:
        """Return what a reader is shown of a post."""
        last = post.comments[-COMMENTS_SHOWN:]
        comments = [
            (self.names[each.by], each.text) for each in last if not self.blocked(reader, each.by)
        ]
        count = sum(not self.blocked(reader, each.by) for each in post.comments)
        return post.id, self.names[post.by], post.text, comments, count
