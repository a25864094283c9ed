"""The sitemap of a site's pages with discussions, by the rules of sitemaps.org."""

import xml.etree.ElementTree as ET
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

import pytest
from pymongo.monitoring import CommandStartedEvent

from chalicelib.comments.latest import sitemap
from chalicelib.comments.nodes import NODES
from chalicelib.comments.page_urls import key_of
from chalicelib.comments.people import changing
from chalicelib.runtime import Runtime
from chalicelib.sitemaps import FILE_PAGES
from tests.comments.support.feeds import react_to_page
from tests.support.clock import Clock
from tests.support.commands import Commands, listening
from tests.support.http_client import Client

SITEMAP = "/sites/blog/discussions.xml"
SPACE = "{http://www.sitemaps.org/schemas/sitemap/0.9}"


def put(client: Client, name: str, url: str | None = None, site: str = "blog") -> str:
    admin = client.as_("root", roles=["admin"])
    path = f"/nodes/{site}:{name}"
    made = admin.put(path, title=name, url=url or f"https://{site}.example/{name}")
    assert made.status in {200, 201}, made.body
    return path


def read(client: Client, path: str = SITEMAP) -> ET.Element:
    reply = client.get(path)
    assert reply.status == 200, reply.body
    assert reply.headers["Content-Type"] == "application/xml; charset=utf-8"
    return ET.fromstring(reply.body)  # noqa: S314 - our own


def pages(client: Client, path: str = SITEMAP) -> dict[str, str | None]:
    """Return the addresses with the time of their last change."""
    root = read(client, path)
    assert root.tag == f"{SPACE}urlset"
    found = {}
    for each in root:
        assert each.tag == f"{SPACE}url"
        location = each.findtext(f"{SPACE}loc") or ""
        assert len(location) < 2_048
        found[location] = each.findtext(f"{SPACE}lastmod")
    assert len(found) == len(root)
    return found


def test_it_has_the_pages_of_a_site_with_their_latest_comment(client: Client, clock: Clock) -> None:
    moon = put(client, "moon")
    put(client, "sun", "https://blog.example/sün?a=1&b=2&utm_source=x#y")
    put(client, "elsewhere", site="shop")
    client.as_("ann").post(f"{moon}/comments", text="first")
    clock.advance(hours=1)
    client.as_("ann").post(f"{moon}/comments", text="second")

    assert pages(client) == {
        "https://blog.example/moon": f"{clock():%Y-%m-%dT%H:%M:%SZ}",
        "https://blog.example/s%C3%BCn?a=1&b=2": None,
    }
    assert pages(client, "/sites/nowhere/discussions.xml") == {}


@pytest.mark.parametrize("state", ["hidden", "pending", "spam", "deleted", "shadowed"])
def test_a_comment_that_nobody_sees_changes_no_time(
    client: Client, clock: Clock, runtime: Runtime, state: str
) -> None:
    moon = put(client, "moon")
    client.as_("ann").post(f"{moon}/comments", text="first")
    before = client.get(SITEMAP).body
    clock.advance(hours=1)
    if state == "shadowed":
        changing.store(runtime, "blog", "eve", {"status": "shadowed"})
    made = client.as_("eve").post(f"{moon}/comments", text="unseen").json["id"]
    staff, path = client.as_("root", roles=["admin"]), f"{moon}/comments/{made}"
    if state == "deleted":
        assert staff.delete(path).status == 204
    elif state != "shadowed":
        assert staff.post(f"{path}/state", state=state).status == 200

    assert client.get(SITEMAP).body == before


def test_a_reaction_to_a_page_changes_no_time(client: Client, clock: Clock) -> None:
    moon = put(client, "moon")
    client.as_("ann").post(f"{moon}/comments", text="first")
    before = client.get(SITEMAP).body
    clock.advance(hours=1)

    react_to_page(client, moon)

    assert client.get(SITEMAP).body == before


@pytest.mark.parametrize(("end", "hours"), [("public_from", 1), ("public_until", -1)])
def test_a_page_that_is_not_public_is_not_there(
    client: Client, clock: Clock, runtime: Runtime, end: str, hours: int
) -> None:
    put(client, "moon")
    put(client, "sun")
    change = {"$set": {end: clock() + timedelta(hours=hours)}}
    NODES.of(runtime.database).update_one({"_id": "blog:moon"}, change)

    for reader in (client, client.as_("root", roles=["admin"])):
        assert pages(reader) == {"https://blog.example/sun": None}
    assert client.as_("root", roles=["admin"]).delete("/nodes/blog:sun").status == 204
    assert pages(client) == {}
    # A deletion by release 0.3.0 leaves the key.
    NODES.of(runtime.database).update_one({"_id": "blog:sun"}, {"$set": {"url_key": "x"}})
    assert pages(client) == {}


def test_an_address_of_two_nodes_is_there_once(client: Client, clock: Clock) -> None:
    first, _ = (put(client, name, "https://blog.example/x") for name in ("a", "b"))
    client.as_("ann").post(f"{first}/comments", text="first")

    assert pages(client) == {"https://blog.example/x": f"{clock():%Y-%m-%dT%H:%M:%SZ}"}


@pytest.mark.parametrize(("in_a_file", "files"), [(20, 0), (10, 64), (0, 4_096)])
def test_a_site_with_many_pages_has_an_index(
    client: Client, monkeypatch: pytest.MonkeyPatch, in_a_file: int, files: int
) -> None:
    expected = {f"https://blog.example/{number}" for number in range(20)}
    for number in range(20):
        put(client, f"n{number}", f"https://blog.example/{number}")
    monkeypatch.setattr(sitemap, "FILE_PAGES", in_a_file)
    if not files:
        assert pages(client).keys() == expected
        return

    root = read(client)
    assert root.tag == f"{SPACE}sitemapindex"
    parts = [urlsplit(each.findtext(f"{SPACE}loc") or "") for each in root]
    assert len(parts) == len(set(parts)) == files
    digits = len(parts[0].query) - len("part=")
    keys = [key_of(url)[:digits] for url in expected]
    found: list[str] = []
    for each in parts:
        if each.query.removeprefix("part=") in keys:
            found += pages(client, f"{each.path}?{each.query}")
    assert sorted(found) == sorted(expected)


def test_a_count_ends_where_more_pages_make_no_difference(runtime: Runtime) -> None:
    limits: list[int] = []

    class Limits(Commands):
        def started(self, event: CommandStartedEvent) -> None:
            stages = event.command.get("pipeline", ())
            limits.extend(each["$limit"] for each in stages if "$limit" in each)

    with listening(runtime, Limits()) as heard:
        sitemap.files(heard, "blog")

    assert limits == [64 * FILE_PAGES + 1]


def test_a_file_is_read_by_indexes(client: Client, runtime: Runtime) -> None:
    for number in range(20):
        put(client, f"n{number}")
        put(client, f"n{number}", site="shop")
    where = {"site": "blog", "url_key": {"$gt": "", "$gte": "", "$lt": "\x7f"}}

    found: Any = NODES.of(runtime.database).find(where).sort([("url_key", 1), ("_id", 1)])
    told = found.limit(5).explain()

    assert told["executionStats"]["totalKeysExamined"] <= 5
    assert "'SORT'" not in str(told["queryPlanner"]["winningPlan"])


def test_the_latest_comment_of_each_page_is_read_by_an_index(
    client: Client, clock: Clock, runtime: Runtime
) -> None:
    paths = [put(client, f"n{number}") for number in range(3)]
    for path in paths * 10:
        clock.advance(minutes=1)
        assert client.as_("ann").post(f"{path}/comments", text="hello").status == 201
    asked = sitemap.stages("blog", "", 10, clock())

    command = {"aggregate": NODES.name, "pipeline": asked, "cursor": {}}
    told: Any = runtime.database.command("explain", command, verbosity="executionStats")
    (lookup,) = (each for each in told["stages"] if "$lookup" in each)

    assert lookup["totalKeysExamined"] <= 2 * len(paths)
    assert lookup["totalDocsExamined"] <= 2 * len(paths)


@pytest.mark.parametrize("part", ["abc", "%24", "..", "a b"])
def test_what_is_no_part_is_refused(client: Client, part: str) -> None:
    assert client.get(f"{SITEMAP}?part={part}").code == "invalid_request"
