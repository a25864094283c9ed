"""Lists of blocks from before there was one list: read where they are, and joined once."""

import pytest

from chalicelib.comments.people import blocking
from chalicelib.comments.people.rows import PEOPLE
from chalicelib.people.blocks import BLOCKS
from chalicelib.runtime import Runtime
from chalicelib.social.graph import blocks
from chalicelib.social.graph.users import USERS
from tests.people.support.blocking import (
    AT_BLOG,
    COMMENTS,
    SITES,
    both_ways,
    join_all,
    listed,
)
from tests.social.support.drivers import follow, settle
from tests.support.clock import Clock
from tests.support.http_client import Client


def plant_old_lists(runtime: Runtime) -> None:
    """Have Ann block Bob at the blog, and Cy in the feed, as 0.3.0 stored it."""
    people, users = PEOPLE.of(runtime.database), USERS.of(runtime.database)
    people.update_one({"_id": "blog/ann"}, {"$set": {"blocked": ["bob"]}})
    users.update_one({"_id": "ann"}, {"$set": {"blocked": ["cy"]}})
    users.update_one({"_id": "cy"}, {"$set": {"blocked_by": ["ann"]}})


@pytest.fixture
def before(pages: Client, runtime: Runtime) -> Client:
    for site in SITES:
        pages.as_("ann").post(COMMENTS.format(site), text="By Ann")
        pages.as_("cy").post(COMMENTS.format(site), text="By Cy")
    settle(pages, "ann", "bob", "cy")
    BLOCKS.of(runtime.database).delete_many({})
    plant_old_lists(runtime)
    return pages


def seen(reader: Client, site: str) -> list[str]:
    return sorted(each["text"] for each in reader.get(COMMENTS.format(site)).json["comments"])


def stored(runtime: Runtime) -> dict[str, list[str]]:
    return {row["_id"]: sorted(row["blocked"]) for row in BLOCKS.of(runtime.database).find()}


def test_older_lists_are_read_where_they_are_and_edited(before: Client, clock: Clock) -> None:
    ann = before.as_("ann")
    assert seen(ann, "blog") == ["By Ann", "By Cy"]
    assert seen(ann, "post") == ["By Ann", "By Bob", "By Cy"]
    assert listed(ann) == [[], ["bob"], []]

    assert ann.delete(f"{AT_BLOG}/bob").status == 204
    clock.advance(seconds=5)
    assert seen(ann, "blog") == ["By Ann", "By Bob", "By Cy"]


@pytest.mark.parametrize("most", [1, 2, 10])
def test_older_lists_are_joined_once(
    before: Client, runtime: Runtime, clock: Clock, most: int
) -> None:
    follow(before, "bob", "ann")

    assert join_all(runtime, most) == 2
    assert stored(runtime) == {"ann": ["bob", "cy"], "bob": []}
    assert join_all(runtime, most) == 1
    assert stored(runtime) == {"ann": ["bob", "cy"], "bob": []}

    clock.advance(seconds=5)
    ann = before.as_("ann")
    assert [seen(ann, site) for site in SITES] == [["By Ann"]] * 2
    assert listed(ann) == [["bob", "cy"]] * 3
    assert both_ways(runtime, USERS.name) == {("ann", "bob"), ("ann", "cy")}
    assert ann.get("/users/ann").json["counts"]["followers"] == 0
    assert PEOPLE.of(runtime.database).count_documents({"blocked": {"$exists": True}}) == 0


@pytest.mark.bounds(people={"blocked": 1})
def test_an_older_list_that_does_not_fit_stays_at_its_site(
    before: Client, runtime: Runtime
) -> None:
    join_all(runtime, 10)

    ann = before.as_("ann")
    assert listed(ann) == [["cy"], ["bob", "cy"], ["cy"]]
    assert seen(ann, "blog") == ["By Ann"]


def test_who_unblocks_while_the_lists_are_joined_stays_unblocked(
    before: Client, runtime: Runtime
) -> None:
    ann, at_blog = before.as_("ann"), {"_id": "blog/ann"}
    PEOPLE.of(runtime.database).update_one(at_blog, {"$set": {"blocked": ["cy", "bob"]}})

    class Apart:
        """Blocks people everywhere; ann unblocks bob after the first block."""

        @staticmethod
        def keep_apart(given: Runtime, owner: str, other: str) -> None:
            if other == "cy":
                assert ann.delete(f"{AT_BLOG}/bob").status == 204
            blocks.keep_apart(given, owner, other)

        let_meet = staticmethod(blocks.let_meet)

    blocking.join(runtime, Apart(), "", 10)

    assert stored(runtime)["ann"] == ["cy"]
    assert not any("bob" in each for each in listed(ann))
