"""The move of a claimed person's past to their account (`comments.people.claims`).

The job rewrites the person's comments at one site, in all stores and generations. Unfinished rows
still have the person's id, so a run after a crash continues there. The job runs twice: the second
run finds rows that the guest's requests or moves of nodes wrote during the first run.
"""

import contextlib
import itertools
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib.comments import nodes, watches
from chalicelib.comments.entries.kind import KIND, thing_id
from chalicelib.comments.entries.rows import ENTRIES
from chalicelib.comments.log.rows import BATCHES, LOG
from chalicelib.comments.moderation.queue import PENDING
from chalicelib.comments.people import blocking, counting
from chalicelib.comments.people.links import CONFIRMATIONS
from chalicelib.comments.people.rows import PEOPLE, person_id
from chalicelib.comments.spam_check.origins import ORIGINS
from chalicelib.comments.stores.buckets import PAGES
from chalicelib.comments.stores.documents import COMMENTS
from chalicelib.comments.stores.embedded_tree import ARRAYS
from chalicelib.comments.terms import writing as terms
from chalicelib.comments.writing import mentioning
from chalicelib.database import Document, in_transaction, prefix_range
from chalicelib.errors import Unavailable
from chalicelib.jobs import outbox
from chalicelib.marks import giving
from chalicelib.marks.shapes import MARKS, thing_of
from chalicelib.notifications import mailing, preferences, subscriptions
from chalicelib.notifications import personal_data as notifications
from chalicelib.people import blocks
from chalicelib.people.blocks import BLOCKS
from chalicelib.people.ids import GUEST_ID
from chalicelib.people.jobs import EraseLate
from chalicelib.people.names import name_key
from chalicelib.runtime import Runtime

_AT_ONCE = 1_000
# Only the worker carries a past with more comments or more marks than this.
_MOST_IN_A_CALL = 100


class ClaimedPast(NamedTuple):
    """A claimed person of a site, the account with their past, and the account's name there."""

    site: str
    person: str
    account: str
    name: str
    # Hashes of the account's verified address; None: the claim is of a release without hashes.
    keys: Sequence[str] | None = None

    @property
    def author(self) -> Document:
        """The `$set` for a comment's author: the account's id and name."""
        return {"author.id": self.account, "author.name": self.name}


def past_of(database: Database[Document], site: str, user_id: str) -> ClaimedPast | None:
    """Return the past of a claimed person; None: unclaimed, or the account has erased itself."""
    people = PEOPLE.of(database)
    person = people.find_one({"_id": person_id(site, user_id)}, {"joined": 1, "joined_keys": 1})
    if person is None or "joined" not in person:
        return None
    account = people.find_one({"_id": person_id(site, person["joined"])}, {"name": 1})
    keys = person.get("joined_keys")
    return account and ClaimedPast(site, user_id, person["joined"], account["name"], keys)


def pasts_of(database: Database[Document], account: str) -> list[ClaimedPast]:
    """Return the pasts of all people whom an account has claimed."""
    mine = list(PEOPLE.of(database).find({"joined": account}, {"site": 1, "user_id": 1}))
    found = (past_of(database, row["site"], row["user_id"]) for row in mine)
    return [past for past in found if past is not None]


def carry(runtime: Runtime, by: ClaimedPast) -> None:
    """Carry a claimed person's past to their account; a repeat carries only the rest."""
    site, user_id = by.site, by.person
    # Before the comments: otherwise a worker would notify the account of them again. And once more
    # after the comments, for notifications that the person received meanwhile.
    notifications.give(runtime.database, site, user_id, by.account)
    _carry_comments(runtime.database, by)
    _carry_rows(runtime.database, by)
    mentioning.give(runtime, site, user_id, by.account)
    giving.give(runtime, KIND, f"{site}/", user_id, by.account)
    _withdraw_own_marks(runtime, by)
    _carry_blocks(runtime, by)
    notifications.give(runtime.database, site, user_id, by.account)
    mailing.give(runtime, user_id, by.account, by.keys)
    subscriptions.remove_all(runtime, user_id)
    # After `mailing`, which reads in the person's inbox row how far they have seen the inbox.
    preferences.give(runtime, user_id, by.account)
    counting.recount(runtime.database, site, by.account)


def carry_soon(runtime: Runtime, site: str, user_id: str) -> None:
    """Carry a past of at most 100 comments and 100 marks within the call that claims it.

    The account's owner then sees the past at once. The outbox job carries a longer past, and the
    rest of a short past if Unavailable interrupts this call.
    """
    if _is_short(runtime.database, site, user_id):
        with contextlib.suppress(Unavailable):
            if past := past_of(runtime.database, site, user_id):
                carry(runtime, past)


def _is_short(database: Database[Document], site: str, user_id: str) -> bool:
    comments = {"site": site, "author_id": user_id}
    marks = giving.filter_of(KIND, f"{site}/", user_id)
    numbers = (
        rows.of(database).count_documents(mine, limit=_MOST_IN_A_CALL + 1)
        for rows, mine in ((ENTRIES, comments), (MARKS, marks))
    )
    return all(number <= _MOST_IN_A_CALL for number in numbers)


def carry_all(runtime: Runtime, pasts: Sequence[ClaimedPast]) -> bool:
    """Carry the pasts of claimed people; a repeat carries only the rest.

    Returns False if a node of theirs moves meanwhile: its move may bring back what it has read
    before.
    """
    is_whole = True
    for past in pasts:
        ids = [each for some in _named_nodes(runtime.database, past) for each in some]
        before = _generations(runtime.database, ids)
        carry(runtime, past)
        is_still = all(moving is None for _, moving in before.values())
        is_whole = is_whole and is_still and _generations(runtime.database, ids) == before
    return is_whole


def _named_nodes(database: Database[Document], by: ClaimedPast) -> Iterator[list[str]]:
    """Yield ids of the site's nodes with comments or mentions of either, at most 1,000 at once.

    An earlier call may have carried the entries, and a move the comments of before.
    """
    either = {"$in": [by.person, by.account]}
    named: list[Document] = [{"author_id": either}, {"mentioned": either}]
    rows: Any = ENTRIES.of(database).aggregate(
        [{"$match": {"site": by.site, "$or": named}}, {"$group": {"_id": "$node_id"}}]
    )
    yield from _ids_of(rows)


def _generations(database: Database[Document], ids: Sequence[str]) -> dict[str, tuple[int, Any]]:
    """Return the generation of each node, and its move; None: it does not move."""
    fields = {"generation": 1, "moving": 1}
    found = nodes.NODES.of(database).find({"_id": {"$in": list(ids)}}, fields)
    return {each["_id"]: (each["generation"], each["moving"]) for each in found}


def erase_late(runtime: Runtime, joined: Document) -> None:
    """Note jobs that erase late writes under the former ids of claimed guests.

    `joined`: the filter of the guests' documents, which name the account. Once these documents are
    gone, only the jobs find such writes.
    """
    due = runtime.now() + outbox.OUTLIVES_ALL
    for row in PEOPLE.of(runtime.database).find(joined, {"user_id": 1}):
        if GUEST_ID.fullmatch(row["user_id"]):
            outbox.note(runtime, EraseLate(user_id=row["user_id"], until=due), due=due)


def _carry_comments(database: Database[Document], by: ClaimedPast) -> None:
    """Set the new author of the comments in all stores, in nodes of this site alone.

    An imported person's id may have comments on other sites, too.
    """
    for found in _nodes_of(database, by):
        rows = {"node_id": {"$in": found}}
        COMMENTS.of(database).update_many({**rows, "author.id": by.person}, {"$set": by.author})
        PAGES.of(database).update_many(
            {**rows, "comments.author.id": by.person},
            {"$set": {f"comments.$[each].{name}": value for name, value in by.author.items()}},
            array_filters=[{"each.author.id": by.person}],
        )
        _carry_embedded(database, by, found)
        nodes.raise_versions(database, {"_id": {"$in": found}})
    # After a crash before `raise_versions`, only the entries still have the former author.
    for found in _entered_nodes(database, by):
        nodes.raise_versions(database, {"_id": {"$in": found}})


def _carry_embedded(database: Database[Document], by: ClaimedPast, found: list[str]) -> None:
    mine = {"_id": {"$in": found}, "metadata.authors": by.person}
    rows = nodes.NODES.of(database)
    rows.update_many(mine, {"$addToSet": {"metadata.authors": by.account}})
    for array in ARRAYS:
        # Covers all elements of the outer arrays: `metadata.replies.$[].replies.$[each]`.
        path = array.replace(".replies", ".replies.$[]").removesuffix(".$[]")
        rows.update_many(
            {**mine, f"{array}.author.id": by.person},
            {"$set": {f"{path}.$[each].{name}": value for name, value in by.author.items()}},
            array_filters=[{"each.author.id": by.person}],
        )
    none = {f"{array}.author.id": {"$ne": by.person} for array in ARRAYS}
    rows.update_many({**mine, **none}, {"$pull": {"metadata.authors": by.person}})


def _nodes_of(database: Database[Document], by: ClaimedPast) -> Iterator[list[str]]:
    """Yield ids of the site's nodes with comments of a person, at most 1,000 at once."""
    grouped: Document = {"$group": {"_id": "$node_id"}}
    for collection, author in ((COMMENTS, "author.id"), (PAGES, "comments.author.id")):
        rows: Any = collection.of(database).aggregate([{"$match": {author: by.person}}, grouped])
        for some in _ids_of(rows):
            here = {"_id": {"$in": some}, "site": by.site}
            yield [node["_id"] for node in nodes.NODES.of(database).find(here, {"_id": 1})]
    embedded = {"metadata.authors": by.person, "site": by.site}
    inside = [node["_id"] for node in nodes.NODES.of(database).find(embedded, {"_id": 1})]
    for first in range(0, len(inside), _AT_ONCE):
        yield inside[first : first + _AT_ONCE]


def _entered_nodes(database: Database[Document], by: ClaimedPast) -> Iterator[list[str]]:
    """Yield ids of the site's nodes with entries of a person, at most 1,000 at once."""
    mine = {"$match": {"site": by.site, "author_id": by.person}}
    rows: Any = ENTRIES.of(database).aggregate([mine, {"$group": {"_id": "$node_id"}}])
    yield from _ids_of(rows)


def _ids_of(rows: Iterator[Document]) -> Iterator[list[str]]:
    ids = (row["_id"] for row in rows)
    while some := list(itertools.islice(ids, _AT_ONCE)):
        yield some


def _carry_rows(database: Database[Document], by: ClaimedPast) -> None:
    """Set the account in all rows beside the comments; delete the person's links.

    The rows: queue, entries, terms, watches, log, batches and origins.
    """
    named = {"author_id": by.account, "author_key": name_key(by.name)}
    mine = {"site": by.site, "author_id": by.person}
    PENDING.of(database).update_many({"site": by.site, "author.id": by.person}, {"$set": by.author})
    entries = ENTRIES.of(database)
    entries.update_many(
        {**mine, "author_name": {"$exists": True}}, {"$set": {"author_name": by.name}}
    )
    entries.update_many(mine, {"$set": named})
    terms.give(database, by.site, by.person, by.account)
    watches.give(database, by.site, by.person, by.account)
    acts = {"site": by.site, "person": by.person}
    LOG.of(database).update_many(acts, {"$set": {"person": by.account, "person_name": by.name}})
    BATCHES.of(database).update_many(acts, {"$set": {"person": by.account}})
    ORIGINS.of(database).update_many({"person": by.person}, {"$set": {"person": by.account}})
    CONFIRMATIONS.of(database).delete_many({"person": by.person, "site": by.site})


def _withdraw_own_marks(runtime: Runtime, by: ClaimedPast) -> None:
    """Withdraw the account's votes and flags on comments that are its own now."""
    below = prefix_range(f"{KIND.name}:{by.site}/")
    said: list[Document] = [{"vote": {"$ne": 0}}, {"flag": {"$exists": True}}]
    mine = {"user_id": by.account, "_id": below, "$or": said}
    things = (thing_of(row["_id"])[1] for row in MARKS.of(runtime.database).find(mine, {"_id": 1}))
    while some := list(itertools.islice(things, _AT_ONCE)):
        ids = [each.partition("/")[2] for each in some]
        own = {"site": by.site, "_id": {"$in": ids}, "author_id": by.account}
        for entry in ENTRIES.of(runtime.database).find(own, {"site": 1}):
            giving.withdraw(runtime, KIND, thing_id(entry), by.account)


def _carry_blocks(runtime: Runtime, by: ClaimedPast) -> None:
    """Let the people who blocked the person block the account, at this site."""
    database = runtime.database
    people = PEOPLE.of(database)
    listed = {"blocked": by.person, "site": by.site}
    for row in list(people.find(listed, {"user_id": 1})):
        blocking.replace(runtime, by.site, row["user_id"], by.person, by.account)
    for owner in list(BLOCKS.of(database).find({"blocked": by.person}, {"_id": 1})):
        blocking.replace(runtime, by.site, owner["_id"], by.person, by.account)
        # A guest has one site; the owner may still block an imported person at other sites.
        if GUEST_ID.fullmatch(by.person):
            _unblock(runtime, owner["_id"], by.person)


def _unblock(runtime: Runtime, owner: str, user_id: str) -> None:
    def work(session: ClientSession) -> None:
        blocks.remove(runtime, session, owner, user_id)

    in_transaction(runtime.database, work)
