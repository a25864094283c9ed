"""Posts are admitted by what a site knows of their author, in one find-and-update."""

import dataclasses
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from itertools import product
from typing import Any

import pytest

from chalicelib.comments.errors import Banned, Suspended
from chalicelib.comments.people import changing
from chalicelib.comments.people.rows import (
    NO_COUNTS,
    PEOPLE,
    new_person,
    trust_expression,
    trust_of,
)
from chalicelib.comments.writing.door import Admitted, admit, admit_first
from chalicelib.errors import TooFast
from chalicelib.identity import Principal
from chalicelib.runtime import Runtime
from tests.support.clock import Clock
from tests.support.commands import Commands, listening

ANN = Principal("ann", "Ann")
MO = Principal("mo", "Mo", frozenset({"moderator"}))
ROOT = Principal("root", "Root", frozenset({"admin"}))


@pytest.fixture
def limited(runtime: Runtime) -> Runtime:
    """A runtime with the limits that a deployment has."""
    return dataclasses.replace(
        runtime, settings=runtime.settings.model_copy(update={"limits": 1.0})
    )


@pytest.fixture
def listened(limited: Runtime, commands: Commands) -> Iterator[Runtime]:
    with listening(limited, commands) as heard:
        yield heard


def know(runtime: Runtime, person: Principal = ANN, **fields: Any) -> None:
    """Store a person who began two days ago."""
    began = {"first_at": runtime.now() - timedelta(days=2)}
    changing.store(runtime, "blog", person.id, {**began, **fields})


def approved(number: int, rejected: int = 0) -> dict[str, Any]:
    return {"counts": {**NO_COUNTS, "visible": number, "rejected": rejected}}


def posts(runtime: Runtime, author: Principal = ANN) -> bool:
    try:
        return admit_first(runtime, "blog", author) is not None
    except TooFast:
        return False


def stored(runtime: Runtime, user: str = "ann") -> Any:
    return PEOPLE.of(runtime.database).find_one({"_id": f"blog/{user}"})


def test_whom_a_site_does_not_know_is_counted_at_their_first_post(limited: Runtime) -> None:
    assert admit(limited, "blog:page", ANN) is None
    assert stored(limited) is None

    made = admit_first(limited, "blog", ANN)

    assert made == Admitted(new_person("blog", "ann", "Ann"), 0, is_shadowed=False)
    now = limited.now()
    begun = {"made": now, "first_at": now, "touched": now, "picture": None, "taken_key": "ann"}
    expected = {**new_person("blog", "ann", "Ann"), **begun}
    assert stored(limited) == {**expected, "recount": now, "tat": now + timedelta(seconds=60)}


@pytest.mark.parametrize(
    ("counts", "burst", "every"), [((0, 0), 3, 60), ((3, 0), 5, 20), ((20, 1), 10, 5)]
)
def test_how_much_somebody_posts_depends_on_how_far_they_are_trusted(
    limited: Runtime, clock: Clock, counts: tuple[int, int], burst: int, every: int
) -> None:
    know(limited, **approved(*counts))

    assert [posts(limited) for _ in range(burst + 2)] == [True] * burst + [False] * 2
    with pytest.raises(TooFast) as denial:
        admit(limited, "blog:page", ANN)
    assert denial.value.headers["Retry-After"] == str(every)
    clock.advance(seconds=every)
    assert [posts(limited) for _ in range(2)] == [True, False]


def test_sites_count_apart(limited: Runtime) -> None:
    for _ in range(3):
        admit_first(limited, "blog", ANN)

    assert not posts(limited)
    assert admit_first(limited, "shop", ANN)


def test_staff_has_the_limit_of_the_long_known_and_an_admin_has_none(limited: Runtime) -> None:
    assert [posts(limited, MO) for _ in range(11)] == [True] * 10 + [False]
    assert all(posts(limited, ROOT) for _ in range(30))


@pytest.mark.parametrize("status", ["suspended", "banned"])
def test_no_status_binds_staff(limited: Runtime, status: str) -> None:
    know(limited, MO, status=status)

    assert admit(limited, "blog:page", MO)


def test_a_post_renews_the_name(limited: Runtime) -> None:
    admit_first(limited, "blog", Principal("ann", "Ann"))
    admit(limited, "blog:page", Principal("ann", "Ann Smith"))

    assert stored(limited)["name"] == "Ann Smith"


def test_a_suspension_ends_by_itself(limited: Runtime, clock: Clock) -> None:
    until = limited.now() + timedelta(hours=1)
    know(limited, status="suspended", until=until)

    with pytest.raises(Suspended) as refusal:
        admit(limited, "blog:page", ANN)
    assert refusal.value.facts == {"until": until}
    clock.advance(hours=1)
    assert admit(limited, "blog:page", ANN)


def test_what_is_refused_writes_nothing(limited: Runtime) -> None:
    know(limited, Principal("bob", "Bob"), status="banned")
    know(limited, Principal("cat", "Cat"), status="suspended")
    for _ in range(3):
        admit_first(limited, "blog", ANN)
    oplog = limited.database.client.get_database("local")["oplog.rs"]
    namespace = f"{limited.database.name}.{PEOPLE.name}"
    written = {"$or": [{"ns": namespace}, {"o.applyOps.ns": namespace}]}
    before = oplog.count_documents(written)

    refusals: tuple[tuple[str, type[Exception]], ...] = (
        ("ann", TooFast),
        ("bob", Banned),
        ("cat", Suspended),
    )
    for user, refusal in refusals:
        for _ in range(20):
            with pytest.raises(refusal):
                # With other words in the token than at the last post.
                admit(limited, "blog:page", Principal(user, "Another name"))

    assert oplog.count_documents(written) == before > 0


def test_a_post_that_its_address_may_not_make_is_given_back(limited: Runtime) -> None:
    know(limited)
    asked: list[None] = []

    def refuse() -> None:
        asked.append(None)
        raise TooFast(retry_after_seconds=9)

    for _ in range(20):
        with pytest.raises(TooFast) as refused:
            admit(limited, "blog:page", ANN, refuse)
        assert refused.value.headers["Retry-After"] == "9"

    assert len(asked) == 20
    assert sum(posts(limited) for _ in range(10)) == 3


def test_nothing_is_given_back_to_an_author_who_is_erased_meanwhile(limited: Runtime) -> None:
    know(limited)

    def refuse() -> None:
        PEOPLE.of(limited.database).delete_one({"_id": "blog/ann"})
        know(limited)
        raise TooFast(retry_after_seconds=9)

    with pytest.raises(TooFast):
        admit(limited, "blog:page", ANN, refuse)

    assert "tat" not in stored(limited)


def test_a_refused_author_uses_up_nothing_of_their_address(limited: Runtime) -> None:
    know(limited, status="banned")
    asked: list[None] = []

    with pytest.raises(Banned):
        admit(limited, "blog:page", ANN, lambda: asked.append(None))

    know(limited, status="ok")
    for _ in range(3):
        admit(limited, "blog:page", ANN, lambda: asked.append(None))
    with pytest.raises(TooFast):
        admit(limited, "blog:page", ANN, lambda: asked.append(None))
    assert len(asked) == 3


def test_a_post_takes_one_find_and_update(listened: Runtime, commands: Commands) -> None:
    admit_first(listened, "blog", ANN)
    # The pace of the node is remembered from here on.
    admit(listened, "blog:page", ANN)
    commands.names.clear()

    admit(listened, "blog:page", ANN)

    assert commands.names == ["findAndModify"]


def test_posts_of_eight_at_once_are_exactly_the_burst(limited: Runtime) -> None:
    with ThreadPoolExecutor(8) as pool:
        allowed = list(pool.map(lambda _: posts(limited), range(100)))

    assert sum(allowed) == 3


def test_without_limits_the_standing_is_read_nonetheless(runtime: Runtime) -> None:
    for _ in range(30):
        assert admit_first(runtime, "blog", ANN)
    know(runtime, status="banned")

    with pytest.raises(Banned):
        admit(runtime, "blog:page", ANN)


def test_trust_is_the_same_in_an_update_and_here(runtime: Runtime) -> None:
    now = runtime.now()
    day, second = timedelta(hours=24), timedelta(seconds=1)
    people = [
        {
            **new_person("blog", f"p{number}", "P"),
            "first_at": first_at,
            "counts": {**NO_COUNTS, "visible": visible, "rejected": rejected, "spam": spam},
        }
        for number, (first_at, visible, rejected, spam) in enumerate(
            product((None, now - day, now - day + second), (0, 2, 3, 19, 20, 40), (0, 1, 2), (0, 1))
        )
    ]
    PEOPLE.of(runtime.database).insert_many(people)  # type: ignore[arg-type]

    told = {"trust": trust_expression(now)}
    rows = PEOPLE.read_as(dict[str, Any], runtime.database).aggregate([{"$addFields": told}])

    found = {row["_id"]: row["trust"] for row in rows}
    assert found == {each["_id"]: trust_of(each, now) for each in people}  # type: ignore[arg-type]
    assert set(found.values()) == {0, 1, 2}


@pytest.mark.parametrize(
    ("days", "visible", "rejected", "trust"),
    [(2, 2, 0, 0), (0.9, 50, 0, 0), (1, 3, 0, 1), (2, 19, 0, 1), (2, 20, 1, 2), (2, 20, 2, 1)],
)
def test_trust_is_earned_by_what_was_approved_and_by_time(
    runtime: Runtime, days: float, visible: int, rejected: int, trust: int
) -> None:
    person = new_person("blog", "ann", "Ann")
    person["first_at"] = runtime.now() - timedelta(days=days)
    person["counts"] = {**NO_COUNTS, "visible": visible, "rejected": rejected}

    assert trust_of(person, runtime.now()) == trust
