"""The keys of ranking, in Python and in the server."""

import itertools
import math

import pytest

from chalicelib.comments.entries.ranking import rank_keys, rank_stages
from chalicelib.database import Document
from chalicelib.runtime import Runtime

MOST = 60


def by_the_server(runtime: Runtime, documents: list[Document]) -> list[tuple[int, int, int]]:
    rows = runtime.database["ranked"]
    rows.drop()
    rows.insert_many(documents)
    rows.update_many({}, rank_stages())
    found = rows.find().sort("_id")
    return [(row["best"], row["top"], row["contro"]) for row in found]


def test_the_server_and_python_agree_on_every_key(runtime: Runtime) -> None:
    votes = list(itertools.product(range(MOST + 1), repeat=2))
    documents = [
        {"_id": number, "up": up, "down": down, "state": "visible"}
        for number, (up, down) in enumerate(votes)
    ]

    assert by_the_server(runtime, documents) == [rank_keys(up, down) for up, down in votes]


def test_a_thousand_million_votes_each_way_have_keys(runtime: Runtime) -> None:
    """An import may bring as many; without keys, every later vote would fail."""
    votes = [(10**9, 10**9), (10**9, 1), (1, 10**9), (11_000_000, 11_000_000)]
    documents = [
        {"_id": number, "up": 0, "down": 0, "base": {"up": up, "down": down}, "state": "visible"}
        for number, (up, down) in enumerate(votes)
    ]

    assert by_the_server(runtime, documents) == [rank_keys(up, down) for up, down in votes]


def test_votes_from_before_count(runtime: Runtime) -> None:
    base = {"up": 30, "down": 7}
    documents = [{"_id": 0, "up": 5, "down": 1, "base": base, "state": "visible"}]

    assert by_the_server(runtime, documents) == [rank_keys(35, 8)]


@pytest.mark.parametrize("state", ["deleted", "removed"])
def test_a_tombstone_ranks_as_nothing(runtime: Runtime, state: str) -> None:
    documents = [{"_id": 0, "up": 9, "down": 3, "state": state}]

    assert by_the_server(runtime, documents) == [(0, 0, 0)]


@pytest.mark.parametrize("state", ["visible", "pending", "hidden"])
def test_a_comment_that_may_be_shown_again_keeps_its_keys(runtime: Runtime, state: str) -> None:
    documents = [{"_id": 0, "up": 9, "down": 3, "state": state}]

    assert by_the_server(runtime, documents) == [rank_keys(9, 3)]


def test_the_bound_is_the_one_that_wilson_gives() -> None:
    # The roots of (p - share)^2 = z^2 p (1 - p) / n, solved as a quadratic in p.
    for up, down in itertools.product(range(1, 40), repeat=2):
        votes, z2 = up + down, 1.96**2
        share = up / votes
        a, b, c = 1 + z2 / votes, -(2 * share + z2 / votes), share**2
        lower = (-b - math.sqrt(b * b - 4 * a * c)) / (2 * a)
        assert rank_keys(up, down).best == pytest.approx(10_000 * lower, abs=0.5001)


def test_few_votes_rank_below_as_good_a_share_of_many() -> None:
    assert 0 == rank_keys(0, 0).best < rank_keys(1, 0).best < rank_keys(10, 0).best


def test_evenly_shared_votes_are_the_most_controversial() -> None:
    keys = [rank_keys(up, 20 - up).contro for up in range(11)]

    assert keys == sorted(keys)
    assert (keys[0], keys[-1]) == (0, 2_000)
