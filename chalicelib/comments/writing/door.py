"""The door of a discussion: whether a person may write there now, decided once.

A post passes it in three steps: `admit` counts it against the limits of its author and their
address, `take_number` numbers it among the comments of the node, and `standing_in` gathers the
facts that judge and place it. Nothing behind the door asks again.

One find-and-update counts a post and reads its author. The update decides on the server and returns
the former document; this module decides the same from that document. If the update refuses, it sets
every field to its former value, and the server writes nothing.

In slow mode only an accepted comment counts, so that a refused text costs no wait. An author who
has to wait learns it before anything else counts.
"""

from collections.abc import Callable
from datetime import timedelta
from typing import NamedTuple

from pymongo import WriteConcern

from chalicelib import limits, signing
from chalicelib.comments import happened, nodes, seen
from chalicelib.comments.errors import UnknownNode
from chalicelib.comments.node_ids import site_of
from chalicelib.comments.people.rows import (
    PEOPLE,
    Person,
    Trust,
    by_trust,
    check_status,
    defaults,
    may_write_expression,
    new_person,
    person_id,
    taken_key_expression,
    trust_of,
)
from chalicelib.comments.permissions import check_open, is_public
from chalicelib.comments.shapes import CommentSite, Node, PostLimit
from chalicelib.comments.sites import settings
from chalicelib.comments.stores import waits
from chalicelib.database import Document
from chalicelib.errors import TooFast, Unavailable
from chalicelib.identity import Principal
from chalicelib.instants import MILLISECOND
from chalicelib.limits import Allowance, refuse, scale
from chalicelib.mail import addressing
from chalicelib.memory import remember
from chalicelib.people.ids import ISSUED_ID
from chalicelib.runtime import Runtime
from chalicelib.sites.permissions import moderated_sites, moderates


class Admitted(NamedTuple):
    """A person who may write at a site, with their document before the post."""

    person: Person
    trust: Trust
    is_shadowed: bool


class AuthorStanding(NamedTuple):
    """An author's standing in a node: the facts that judge and place a text under its `rules`."""

    author: Principal
    admitted: Admitted
    rules: CommentSite
    is_moderator: bool


def admit(
    runtime: Runtime, node_id: str, author: Principal, count: Callable[[], None] | None = None
) -> Admitted | None:
    """Count a post against its author's limits; return the admitted author.

    None: the id names no site, or the site has no document of the author yet.

    Staff of the site skip the check of status, and have the limit of the highest trust; an admin
    has no limit. `count` then counts the post for the author's address, so a refused author uses up
    nothing there. If `count` refuses the post, the author's count shrinks again.

    Raises Suspended, Banned, and TooFast; the counts are then as before.
    """
    site = site_of(node_id)
    _check_pace(runtime, node_id, site, author)
    post = _Post(runtime, site, author) if site else None
    admitted = post.count(makes=False) if post else None
    if count is not None:
        try:
            count()
        except TooFast:
            if post and admitted:
                post.give_back()
            raise
    return admitted


def admit_first(runtime: Runtime, site: str, author: Principal) -> Admitted:
    """Count a post as `admit` does, and make the author's document if there is none."""
    admitted = _Post(runtime, site, author).count(makes=True)
    return admitted or _newcomer(site, author)


def take_number(
    runtime: Runtime, node_id: str, author: Principal, make: Callable[[], None]
) -> Node:
    """Return a node with the number of a new comment, after the end of a running move.

    `make` makes a missing node or raises. Raises UnknownNode, NodeLocked, NodeClosed, and
    Unavailable for a move that outlasts the budget of time.
    """
    moderated = moderated_sites(author)
    for _ in waits(runtime.settings.post_budget_ms):
        node = nodes.take_seq(runtime, node_id, moderated)
        if node is not None:
            return node
        _explain(runtime, node_id, author, make)
    raise Unavailable("The discussion is being moved")


def standing_in(
    runtime: Runtime, node: Node, author: Principal, admitted: Admitted | None = None
) -> AuthorStanding:
    """Return the standing of an author in a node.

    If `admitted` is None, read it without counting a post; this raises Suspended and Banned.
    """
    if admitted is None:
        admitted = _look(runtime, node["site"], author)
    rules, is_moderator = settings.in_force(runtime, node), moderates(author, node["site"])
    return AuthorStanding(author, admitted, rules, is_moderator)


def note_text(
    runtime: Runtime, node: Node, comment_id: str, text: str, standing: AuthorStanding
) -> int:
    """Note the text of a comment; return the number of other recent authors of the text.

    It returns 0 for moderators, and at sites that allow repeats. Raises Duplicate.
    """
    if standing.rules["repeats"] == "allow" or standing.is_moderator:
        return 0
    thing = happened.name_of(node["_id"], comment_id)
    return seen.mark(runtime, seen.Writing(node["site"], standing.author.id, thing, text))


def count_pace(runtime: Runtime, node: Node, standing: AuthorStanding) -> None:
    """Count a comment in slow mode, before it is stored. Raises TooFast, without a write."""
    allowance = _allowance(runtime, node["_id"], standing.author, slow_seconds(standing))
    limits.count(runtime, [allowance])


def slow_seconds(standing: AuthorStanding) -> int:
    """Return the least seconds between two comments of an author in a node; 0: no wait."""
    return 0 if standing.is_moderator else standing.rules.get("slow_seconds", 0)


def _explain(runtime: Runtime, node_id: str, author: Principal, make: Callable[[], None]) -> None:
    """Make a missing node, or end an expired move; raises as `take_number`."""
    try:
        node = nodes.find(runtime.database, node_id)
    except UnknownNode:
        make()
        return
    now, is_moderator = runtime.now(), moderates(author, node["site"])
    if not is_moderator and not is_public(node, now):
        raise UnknownNode
    check_open(node, now, moderates=is_moderator)
    nodes.find_settled(runtime.database, node_id, now)


def _look(runtime: Runtime, site: str, author: Principal) -> Admitted:
    """Return a person's admission without counting a post; raises Suspended and Banned."""
    found = PEOPLE.of(runtime.database).find_one({"_id": person_id(site, author.id)})
    if found is None:
        return _newcomer(site, author)
    is_staff = moderates(author, site)
    if not is_staff:
        check_status(found, runtime.now())
    trust = trust_of(found, runtime.now())
    return Admitted(found, trust, found["status"] == "shadowed" and not is_staff)


def _newcomer(site: str, author: Principal) -> Admitted:
    return Admitted(new_person(site, author.id, author.name), 0, is_shadowed=False)


class _Post:
    """A post that an author is about to make at a site."""

    def __init__(self, runtime: Runtime, site: str, author: Principal) -> None:
        self._author, self._site, self._is_staff = author, site, moderates(author, site)
        self._key = {"_id": person_id(site, author.id)}
        # A count lost in an election does no harm; a wait for the majority at every post would.
        rows = PEOPLE.of(runtime.database)
        self._rows = rows.with_options(write_concern=WriteConcern(1))
        self._now, self._written = runtime.now(), (runtime.clock or runtime.now)()
        self._signing_keys = runtime.settings.signing_keys
        factor = runtime.settings.limits
        is_limited = factor is not None and not author.has("admin")
        allowed = settings.of(runtime, site)["limits"]["posts"] if is_limited else []
        if self._is_staff:
            allowed = allowed[-1:] * len(allowed)
        self._allowances = [_allowance_of(each, factor or 1) for each in allowed]

    def count(self, *, makes: bool) -> Admitted | None:
        """Count the post and return its author as before it; None: there was no document.

        `makes`: insert a missing document. Raises Suspended, Banned and TooFast.
        """
        update = [{"$set": self._fields()}]
        before = self._rows.find_one_and_update(self._key, update, upsert=makes)
        return None if before is None else self._decide(before)

    def give_back(self) -> None:
        """Undo the count of a post that another limit refused."""
        if self._allowances:
            earlier = {"$subtract": ["$tat", by_trust(self._every(), self._now)]}
            # Skip the new document after an erasure meanwhile: it has no `tat` after now.
            counted = {**self._key, "tat": {"$gt": self._now}}
            self._rows.update_one(counted, [{"$set": {"tat": earlier}}])

    def _decide(self, before: Person) -> Admitted:
        """Decide as the update does; raises Suspended, Banned and TooFast."""
        if not self._is_staff:
            check_status(before, self._now)
        trust = trust_of(before, self._now)
        tat = before.get("tat")
        if self._allowances and tat is not None:
            refuse(self._allowances[trust].wait(tat, self._now))
        is_shadowed = before["status"] == "shadowed" and not self._is_staff
        return Admitted(before, trust, is_shadowed)

    def _fields(self) -> Document:
        """Return the fields that the update sets: their former values, if it refuses."""
        author = self._author
        changed: Document = {
            "name": {"$literal": author.name},
            "first_at": {"$ifNull": ["$first_at", self._now]},
            "touched": self._written,
            "recount": {"$ifNull": ["$recount", self._written]},
            "picture": {"$literal": author.picture},
            "taken_key": taken_key_expression(author.id, author.name),
            **self._address(),
            **self._next_tat(),
        }
        allowed = self._may_post()
        refused = {field: f"${field}" for field in changed} | self._tat()
        decided = {each: {"$cond": [allowed, changed[each], refused[each]]} for each in changed}
        return {**defaults(self._site, author.id, author.name, self._now), **decided}

    def _address(self) -> Document:
        """Return the `email_key` of the address that the author's issuer vouches for.

        Without an address, the update removes a stored key. Empty for an author of no issuer: a
        stored key stays.
        """
        author = self._author
        if not ISSUED_ID.fullmatch(author.id):
            return {}
        address = addressing.ascii_form(author.email) if author.email else None
        keys = addressing.address_keys(address, self._signing_keys) if address else []
        return {"email_key": {"$literal": keys[0]} if keys else "$$REMOVE"}

    def _every(self) -> list[int]:
        """Return the milliseconds between two posts, by trust."""
        return [each.every // MILLISECOND for each in self._allowances]

    def _tat(self) -> Document:
        """Return the present `tat`, cut to the furthest time of the present limit.

        Otherwise people would still wait by a former, stricter limit.
        """
        if not self._allowances:
            return {}
        ends = [each.furthest(self._now) for each in self._allowances]
        furthest = by_trust(ends, self._now)
        return {"tat": {"$cond": [{"$gt": ["$tat", furthest]}, furthest, "$tat"]}}

    def _next_tat(self) -> Document:
        if not self._allowances:
            return {}
        after: Document = {"$max": [self._tat()["tat"], self._now]}
        return {"tat": {"$add": [after, by_trust(self._every(), self._now)]}}

    def _may_post(self) -> Document:
        rules: list[Document] = []
        if not self._is_staff:
            rules.append(may_write_expression(self._now))
        if self._allowances:
            latest = [each.latest(self._now) for each in self._allowances]
            # A missing `tat` is less than every date.
            rules.append({"$lte": ["$tat", by_trust(latest, self._now)]})
        return {"$and": rules}


def _allowance_of(limit: PostLimit, factor: float) -> Allowance:
    every = timedelta(seconds=limit["every_seconds"])
    return scale("posts", limit["burst"], every, factor)


def _check_pace(runtime: Runtime, node_id: str, site: str | None, author: Principal) -> None:
    """Raise TooFast if an author has to wait in slow mode; the settings may be seconds old."""
    if site is None or moderates(author, site):
        return
    own = _own_seconds(runtime, node_id)
    seconds = settings.of(runtime, site).get("slow_seconds", 0) if own is None else own
    if seconds:
        limits.check(runtime, _allowance(runtime, node_id, author, seconds))


@remember(seconds=5)
def _own_seconds(runtime: Runtime, node_id: str) -> int | None:
    """Return a node's own `slow_seconds`, at most 5 seconds old; None: the site's setting."""
    found = nodes.NODES.of(runtime.database).find_one({"_id": node_id}, {"slow_seconds": 1})
    return None if found is None else found.get("slow_seconds")


def _allowance(runtime: Runtime, node_id: str, author: Principal, seconds: int) -> Allowance:
    """Return a person's slow-mode allowance in a node; the id of its row reveals neither."""
    key = signing.signing_key(runtime.settings.signing_keys)
    message = b"\0".join((b"slow", node_id.encode(), author.id.encode()))
    row_id = f"slow:{signing.tag(message, key, 12).hex()}"
    return Allowance(row_id, 1, timedelta(seconds=seconds))
