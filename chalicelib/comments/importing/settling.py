"""Settle imported comments: write their entries, queues, search terms and marks.

It runs after the move of a thread. After a crash it runs again: it adds missing rows and leaves
right rows alone.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pymongo import UpdateOne

from chalicelib.comments.entries.kind import KIND, thing_id
from chalicelib.comments.entries.ranking import rank_keys, rank_stages
from chalicelib.comments.entries.rows import (
    ENTRIES,
    CommentEntry,
    key_of,
    new_entry,
    root_of,
)
from chalicelib.comments.entries.writing import RANKED
from chalicelib.comments.importing.exporting import batches_of
from chalicelib.comments.importing.ordering import StagedRows
from chalicelib.comments.importing.rows import StagedComment, StagedThread
from chalicelib.comments.moderation import queue
from chalicelib.comments.people import claims
from chalicelib.comments.people.rows import PEOPLE, Person, new_person
from chalicelib.comments.shapes import Comment, Node
from chalicelib.comments.store import GONE
from chalicelib.comments.terms import upkeep as terms
from chalicelib.database import Document, insert_missing
from chalicelib.marks import adding
from chalicelib.marks.adding import GivenMark
from chalicelib.runtime import Runtime

_BATCH = 500
# The fields of an existing entry that decide whether the import changes it.
_ENTRY = ("id", "base", "seq", "thread", "state", "featured")


def settle(runtime: Runtime, node: Node, thread: StagedThread) -> Iterator[int]:
    """Make the data beside all comments of a node, in batches; yield the size of each batch.

    The data: entries, authors, the moderators' queue, search terms, marks, and claims.

    Raises Moved if a read of the comments meets another move of the node.
    """
    rows = StagedRows(runtime.database, thread)
    sizes, settled = _thread_sizes(runtime, node), 0
    for batch in batches_of(runtime, node):
        found = rows.some([each["id"] for each in batch])
        staged = {row["id"]: row for row in found if not row.get("lives")}
        settled += len(batch)
        if settled <= thread.get("settled", 0):
            # Moderators may have changed the featuring since an earlier run.
            for row in staged.values():
                row.pop("featured", None)
        _enter(runtime, node, batch, staged, sizes)
        _know_authors(runtime, node["site"], list(staged.values()))
        for comment in batch:
            if comment["state"] == "pending":
                queue.settle(runtime.database, node, comment)
        terms.add_missing(runtime, node, batch)
        adding.add(runtime, KIND, list(_marks(node, batch, staged)))
        _follow_claims(runtime, node["site"], list(staged.values()))
        yield len(batch)


def _know_authors(runtime: Runtime, site: str, rows: Sequence[StagedComment]) -> None:
    """Insert a person for each author with a mail address: the address's account may claim it."""
    made: dict[str, Person] = {}
    for row in rows:
        author = row["author"]
        if author and "email_key" in row and author["id"] not in made:
            person = new_person(site, author["id"], author["name"])
            person |= {"taken_key": "", "email_key": row["email_key"], "made": runtime.now()}
            made[author["id"]] = person
    insert_missing(PEOPLE.of(runtime.database), list(made.values()))


def _follow_claims(runtime: Runtime, site: str, rows: Sequence[StagedComment]) -> None:
    """Note jobs that carry comments and votes of claimed people to their accounts."""
    authors = {row["author"]["id"] for row in rows if row["author"]}
    voters = {ballot["by"] for row in rows for ballot in row["ballots"]}
    people = sorted(authors | voters)
    for start in range(0, len(people), _BATCH):
        claims.follow(runtime, site, people[start : start + _BATCH])


def _thread_sizes(runtime: Runtime, node: Node) -> Mapping[str, int]:
    """Return the number of comments of each thread with replies, by the id of its root."""
    sizes: Counter[str] = Counter()
    for batch in batches_of(runtime, node):
        sizes.update(root_of(comment) for comment in batch if comment["depth"])
    return {root: replies + 1 for root, replies in sizes.items()}


def _enter(
    runtime: Runtime,
    node: Node,
    batch: Sequence[Comment],
    staged: Mapping[str, StagedComment],
    sizes: Mapping[str, int],
) -> None:
    """Insert the missing entries of a batch, and correct the fields of the others."""
    entries = ENTRIES.of(runtime.database)
    keys = [key_of(node, comment["id"])["_id"] for comment in batch]
    where = {"site": node["site"], "_id": {"$in": keys}}
    found: Any = entries.find(where, dict.fromkeys(_ENTRY, 1))
    stored = {row["id"]: row for row in found}
    made: list[CommentEntry] = []
    changes: list[UpdateOne] = []
    for comment in batch:
        size, had = sizes.get(comment["id"], 1), stored.get(comment["id"])
        if had is None:
            made.append(_new_entry(node, comment, staged.get(comment["id"]), size))
            continue
        right = _right_fields(had, comment, staged.get(comment["id"]), size)
        if had != {**had, **right}:
            right["thread"] = {"$max": ["$thread", size]}
            update = [{"$set": right}, {"$set": {"ranked": RANKED}}, *rank_stages()]
            changes.append(UpdateOne(key_of(node, comment["id"]), update))
    insert_missing(entries, made)
    if changes:
        entries.bulk_write(changes, ordered=False)


def _right_fields(
    had: Mapping[str, Any], comment: Comment, row: StagedComment | None, thread: int
) -> Document:
    """Return the fields of an existing entry that the import has to set.

    The comparison of counts may have made the entry after a crash, without votes from before Plaza.
    """
    # The stored number may be larger: a post counts in its thread before its comment exists.
    right: Document = {"seq": comment["seq"], "thread": max(thread, had["thread"])}
    if had["state"] == "removed" and comment["state"] == "deleted":
        # The comment has got its first reply, and is a tombstone now.
        right["state"] = "deleted"
    if row is not None and (row["up"] or row["down"]):
        right["base"] = {"up": row["up"], "down": row["down"]}
    if row is not None and "featured" in row and comment["state"] not in GONE:
        right["featured"] = row["featured"]
    return right


def _new_entry(
    node: Node, comment: Comment, row: StagedComment | None, thread: int
) -> CommentEntry:
    """Return a comment's new entry with its votes and featuring from the file."""
    entry = new_entry(node, comment, None, thread)
    if row is None:
        return entry
    if row["up"] or row["down"]:
        entry["base"] = {"up": row["up"], "down": row["down"]}
        if comment["state"] not in GONE:
            keys = rank_keys(row["up"], row["down"])
            entry["best"], entry["top"], entry["contro"] = keys
    if "featured" in row and comment["state"] not in GONE:
        entry["featured"] = row["featured"]
    return entry


def _marks(
    node: Node, batch: Sequence[Comment], staged: Mapping[str, StagedComment]
) -> Iterator[GivenMark]:
    for comment in batch:
        row = staged.get(comment["id"])
        for ballot in row["ballots"] if row else ():
            if ballot["vote"] or ballot["reactions"]:
                thing = thing_id(key_of(node, comment["id"]))
                reactions = tuple(ballot["reactions"])
                at = comment["posted"]
                yield GivenMark(thing, ballot["by"], at, ballot["vote"], reactions)
