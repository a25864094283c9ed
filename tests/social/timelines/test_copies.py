"""Each user has each post in one document of a month, and every copy is confirmed."""

from collections.abc import Callable
from typing import Any

import pytest
from pymongo.collection import Collection
from pymongo.errors import BulkWriteError

from chalicelib.social.posts.posts import POSTS
from chalicelib.social.timelines import copies
from chalicelib.social.timelines.copies import MonthCopies
from chalicelib.social.timelines.walls import WALLS
from tests.social.support.drivers import Town
from tests.social.support.interleaving import Meantime

OWNER = "bob"


@pytest.fixture
def add(town: Town, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Another worker, which copies posts; a document has room for two, and one is there."""
    monkeypatch.setattr(copies, "POSTS_PER_DOCUMENT", 2)

    def add_each(*post_ids: str) -> None:
        for post_id in post_ids:
            post = POSTS.of(town.runtime.database).find_one({"_id": post_id})
            assert post
            MonthCopies(town.runtime.database, WALLS).add([post], [OWNER])

    add_each(town.publish())
    return add_each


def copy_with(watched: Town, post_id: str) -> None:
    post = POSTS.of(watched.runtime.database).find_one({"_id": post_id})
    assert post
    MonthCopies(watched.runtime.database, WALLS).add([post], [OWNER])


def documents_with(town: Town, post_id: str) -> int:
    return town.runtime.database["social.wall"].count_documents({"posts.id": post_id})


def second_find(meantime: Meantime, action: Callable[[], Any]) -> None:
    """Have an action done between the next two reads of walls."""
    meantime.before("find", "social.wall", lambda: meantime.before("find", "social.wall", action))


def test_two_workers_at_once_copy_a_post_once(
    town: Town, watched: Town, meantime: Meantime, add: Callable[..., None]
) -> None:
    post, other = town.publish(), town.publish()

    second_find(meantime, lambda: add(post, other))
    copy_with(watched, post)

    assert meantime.done()
    assert documents_with(town, post) == 1


def test_a_worker_who_meets_a_full_document_copies_a_post_once(
    town: Town, watched: Town, meantime: Meantime, add: Callable[..., None]
) -> None:
    post, *others = (town.publish() for _ in range(4))

    def fill_then_overtake() -> None:
        add(others[0])
        second_find(meantime, lambda: add(others[1], post, others[2]))

    meantime.before("update", "social.wall", fill_then_overtake)
    copy_with(watched, post)

    assert meantime.done()
    assert documents_with(town, post) == 1


def test_a_second_copy_of_a_changed_post_makes_the_older_copy_equal(town: Town) -> None:
    post, other = town.publish(), "zoe"
    view = MonthCopies(town.runtime.database, WALLS)
    before = POSTS.of(town.runtime.database).find_one({"_id": post})
    assert before
    view.add([before], [OWNER, other])
    changed: Any = {**before, "detail": {"text": "later"}}
    changed["spread"] = {**before["spread"], "version": before["spread"]["version"] + 1}

    view.add([changed], [OWNER])
    view.add([before], [OWNER])

    found = {who: view.newest(who, None, 10)[0].post for who in (OWNER, other)}
    texts = {who: copy and copy["detail"]["text"] for who, copy in found.items()}
    assert texts == {OWNER: "later", other: before["detail"]["text"]}


def test_copies_that_no_majority_confirmed_are_a_failure(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    post = town.publish()

    def fail_unconfirmed(*_given: Any, **_options: Any) -> None:
        raise BulkWriteError({"writeErrors": [], "writeConcernErrors": [{"code": 11602}]})

    monkeypatch.setattr(Collection, "bulk_write", fail_unconfirmed)

    with pytest.raises(BulkWriteError):
        copy_with(town, post)
