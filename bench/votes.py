"""Cost of votes and of counts in pages, in both designs of counting.

The floor of a vote is its own reads and writes, sent by the driver: the node, the entry, and the
transaction of both documents. That of votes that are folded is an update each, and one transaction
that counts all of them.
"""

import itertools
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from pymongo import ReturnDocument, UpdateOne
from pymongo.client_session import ClientSession

from bench.calls import AppCalls
from bench.case import Case, Work
from bench.discussions import seed_node
from bench.raw_comments import RawDocuments
from bench.raw_node import LIMIT, Bench
from bench.stage import Stage
from chalicelib.comments.entries import marked, upkeep
from chalicelib.comments.entries.kind import KIND, thing_id
from chalicelib.comments.entries.ranking import rank_stages
from chalicelib.comments.entries.rows import ENTRIES
from chalicelib.comments.marking import votes
from chalicelib.comments.marking.vote_forms import CommentVote
from chalicelib.comments.shapes import Node
from chalicelib.comments.sites import settings
from chalicelib.comments.sites.forms import CommentSettings
from chalicelib.database import in_transaction
from chalicelib.identity import Principal
from chalicelib.marks import placing
from chalicelib.marks.changes import Vote
from chalicelib.marks.folded import fold
from chalicelib.marks.shapes import MARKS, Kinds, Thing, mark_id

WRITERS, VOTES, COMMENTS = 8, 64, 1_000
VOTE_AT_MOST, PAGE_AT_MOST = 1.6, 1.7
_KINDS: Kinds = {KIND.name: KIND}
_COUNTS = dict.fromkeys(KIND.shown, 1)


def groups(stage: Stage) -> Iterator[list[Case]]:
    """Yield votes of one writer and of eight in both designs, and pages with counts."""
    here = stage.with_database("votes")
    wanted = CommentSettings.model_validate({"votes": "up_down"})
    settings.put(here.runtime, "default", wanted)
    node = seed_node(here.runtime, "votes", COMMENTS, store="documents", threaded=False)
    upkeep.compare_node(here.runtime, node)
    voters = Voters(here, node)
    case = partial(Case, door="function", floor_is="the same reads and writes")
    together = partial(case, items=VOTES, connections=WRITERS, samples_at_most=30)
    name = f"{VOTES} votes of {WRITERS} on one comment"
    yield [
        case(
            "vote",
            voters.vote,
            voters.raw_vote,
            prepare=voters.forget_design,
            prepare_floor=voters.forget_design,
            store="direct",
            ratio_at_most=VOTE_AT_MOST,
        ),
        together(name, voters.together, voters.raw_together, store="direct"),
        together(name, voters.folded, voters.raw_folded, store="folded"),
    ]
    yield list(_pages(here, node))


def _pages(stage: Stage, node: Node) -> Iterator[Case]:
    calls = AppCalls(stage.runtime)
    bench = Bench(stage.runtime, calls, node)
    raw, ids = RawDocuments(bench), [str(entry["id"]) for entry in bench.first_ranked()][:LIMIT]
    counts = _raw_counts(stage, node, ids)
    case = partial(Case, size=COMMENTS, unit="comments", ratio_at_most=PAGE_AT_MOST)
    oldest, best = raw.page("oldest"), raw.ranked()
    yield case("page of 50 with counts and mine", bench.page("oldest"), _both(oldest, counts))
    yield case("page of 50, best, with them", bench.page("best"), _both(best, counts))
    query = {"ids": ",".join(ids)}
    ask = partial(calls, "GET", "/nodes/{node}/marks", bench.path, query)
    yield case("counts and mine of 50 comments", ask, _both(bench.read_node, counts))


def _both(first: Work, second: Work) -> Work:
    return lambda: (first(), second())


def _raw_counts(stage: Stage, node: Node, ids: list[str]) -> Work:
    """Return the read of the counts of comments and of a person's own marks."""
    database, site = stage.runtime.database, node["site"]
    keys = [f"{node['_id']}/{each}" for each in ("", *ids)]
    mine = {"_id": {"$in": [mark_id(KIND, f"{site}/{key}", "ann") for key in keys]}}
    said = [{"$match": mine}, {"$project": {"vote": 1, "reactions": 1}}]
    stages: list[Any] = [
        {"$match": {"site": site, "_id": {"$in": keys}}},
        {"$project": dict.fromkeys(marked.COUNTS, 1)},
        {"$unionWith": {"coll": MARKS.name, "pipeline": said}},
    ]
    return lambda: list(database[ENTRIES.name].aggregate(stages, batchSize=2 * len(keys) + 1))


class Voters:
    """People who each vote once on one comment."""

    def __init__(self, stage: Stage, node: Node) -> None:
        self._runtime, self._node = stage.runtime, node
        self._bench = Bench(stage.runtime, AppCalls(stage.runtime), node)
        self._pool = ThreadPoolExecutor(WRITERS)
        self._numbers = itertools.count()
        self._entries: Any = ENTRIES.of(stage.runtime.database)
        where = {"site": node["site"], "node_id": node["_id"], "state": "visible"}
        self._entry: dict[str, Any] = {**(self._entries.find_one(where) or {})}
        self._key = {"site": node["site"], "_id": self._entry["_id"]}

    def vote(self) -> None:
        """Vote, as the call does."""
        voter = Principal(self._voter(), "Voter")
        body = CommentVote(value=1)
        votes.vote(self._runtime, self._node["_id"], self._entry["id"], voter, body)

    def raw_vote(self) -> None:
        """Read and write the same by the driver."""
        self._bench.read_node()
        self._entries.find_one(self._key, _COUNTS)
        self._raw_place(self._voter())

    def together(self) -> None:
        """Place votes of several at once, counted with their placing."""
        self._at_once(partial(self._place, {}))

    def raw_together(self) -> None:
        """Write the same by the driver."""
        self._at_once(self._raw_place)

    def folded(self) -> None:
        """Place votes of several at once, and count them by one fold."""
        voters = self._at_once(partial(self._place, {"design": "folded"}))
        fold(self._runtime, _KINDS, [self._mark(voter) for voter in voters])

    def raw_folded(self) -> None:
        """Write the same by the driver."""
        ids = {"_id": {"$in": [self._mark(each) for each in self._at_once(self._raw_note)]}}
        database = self._runtime.database
        counted: list[Any] = [{"$set": {"up": {"$add": ["$up", VOTES]}}}, *rank_stages()]

        def work(session: ClientSession) -> None:
            list(MARKS.of(database).find(ids, session=session))
            settled = {"$unset": {"due": "", "counted": ""}}
            MARKS.of(database).update_many(ids, settled, session=session)
            self._entries.bulk_write([UpdateOne(self._key, counted)], session=session)

        in_transaction(database, work)

    def _at_once(self, place: Callable[[str], None]) -> list[str]:
        voters = [self._voter() for _ in range(VOTES)]
        list(self._pool.map(place, voters))
        return voters

    def _place(self, marking: dict[str, str], voter: str) -> None:
        found = {**self._entry, "marking": marking}
        placing.place(self._runtime, Thing(KIND, thing_id(found), found), voter, Vote(1))

    def _raw_place(self, voter: str) -> None:
        said = {"vote": 1, "reactions": [], "user_id": voter, "at": self._runtime.now()}
        counted: list[Any] = [{"$set": {"up": {"$add": ["$up", 1]}}}, *rank_stages()]

        def work(session: ClientSession) -> None:
            MARKS.of(self._runtime.database).find_one_and_update(
                {"_id": self._mark(voter)}, {"$set": said}, upsert=True, session=session
            )
            self._entries.find_one_and_update(
                {**self._key, "state": "visible"},
                counted,
                _COUNTS,
                return_document=ReturnDocument.AFTER,
                session=session,
            )

        in_transaction(self._runtime.database, work)

    def _raw_note(self, voter: str) -> None:
        now, nothing = self._runtime.now(), {"vote": 0, "reactions": []}
        said = {"vote": 1, "reactions": [], "user_id": voter, "at": now}
        MARKS.of(self._runtime.database).find_one_and_update(
            {"_id": self._mark(voter)},
            {"$set": {**said, "due": now, "counted": nothing}},
            upsert=True,
            return_document=ReturnDocument.AFTER,
        )

    def _voter(self) -> str:
        return f"voter{next(self._numbers)}"

    def _mark(self, voter: str) -> str:
        return mark_id(KIND, thing_id(self._entry), voter)

    def forget_design(self) -> None:
        """Keep the comment from being promoted by what is measured."""
        self._entries.update_one(self._key, {"$unset": {"marking": ""}})
