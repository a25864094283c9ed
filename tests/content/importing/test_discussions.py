"""Comments of the same file meet their pages, whichever comes first."""

import io

import pytest

from chalicelib.comments.importing import running
from chalicelib.comments.importing.formats.wordpress import parse
from chalicelib.comments.importing.running import ImportOrder
from chalicelib.comments.lifecycle import relocation
from chalicelib.runtime import Runtime
from tests.content.support.factories import BASE, SITE, node, published, publisher, read
from tests.content.support.wordpress import bring, item, nodes, wxr
from tests.support.http_client import Client
from tests.support.workers import Workers

COMMENT = (
    "<wp:comment_status>closed</wp:comment_status>"
    "<wp:comment><wp:comment_id>3</wp:comment_id><wp:comment_author>Ann</wp:comment_author>"
    "<wp:comment_date_gmt>2024-06-01 10:00:00</wp:comment_date_gmt>"
    "<wp:comment_content>Full indeed</wp:comment_content>"
    "<wp:comment_approved>1</wp:comment_approved></wp:comment>"
)


def bring_comments(runtime: Runtime, *items: str) -> None:
    order = ImportOrder(SITE, "wordpress", "digest")
    running.run(runtime, order, lambda: parse(io.BytesIO(wxr(*items))))


@pytest.mark.parametrize("is_first", [True, False], ids=["pages first", "comments first"])
@pytest.mark.parametrize(
    "link",
    [
        f"{BASE}/2024/05/moon/",
        f"{BASE}/2024/05/moon",
        "http://old.example/2024/05/moon/",
        f"{BASE}/About_Us.html",
        f"{BASE}/?p=1",
    ],
)
def test_comments_meet_their_page(
    site: Client, runtime: Runtime, link: str, *, is_first: bool
) -> None:
    given = item(1, more=COMMENT, link=link, wp__post_name="named")
    if is_first:
        bring(runtime, given)
    bring_comments(runtime, given)
    if not is_first:
        bring(runtime, given)

    (slug,) = runtime.database["content.node"].distinct("live.slug")
    page = read(site, str(slug), "&include=discussion").json
    assert page["discussion"]["comments"] == 1
    (found,) = runtime.database["comments.node"].find()
    assert found["locked"] is True
    assert found["url"] == f"{BASE}/{slug}"


def test_a_page_of_another_path_keeps_its_own_discussion(site: Client, runtime: Runtime) -> None:
    bring(runtime, item(1, link=f"{BASE}/moon/"))
    bring_comments(runtime, item(2, more=COMMENT, link=f"{BASE}/moon/tides/"))

    page = read(site, "moon", "&include=discussion").json
    assert page["discussion"]["comments"] == 0


def test_two_pages_of_one_former_address_have_a_discussion_each(
    site: Client, runtime: Runtime
) -> None:
    link = f"{BASE}/?p=1"
    bring_comments(runtime, item(1, more=COMMENT, link=link))

    bring(
        runtime,
        item(1, link=link, wp__post_name="first"),
        item(2, link=link, wp__post_name="second"),
    )

    pages = {
        slug: read(site, slug, "&include=discussion").json["discussion"]
        for slug in ("first", "second")
    }
    assert pages["first"]["comments"] == 1
    assert pages["second"]["comments"] == 0
    assert pages["first"]["id"] != pages["second"]["id"]


def test_a_file_takes_no_discussion_of_a_page_that_is_here(site: Client, runtime: Runtime) -> None:
    mine = published(site, "moon")
    before = runtime.database["comments.node"].find_one({"_id": f"{SITE}:{mine}"})
    assert before is not None

    bring(runtime, item(1, link=f"{BASE}/{mine}", title="Not the moon"))

    assert runtime.database["comments.node"].find_one({"_id": f"{SITE}:{mine}"}) == before
    assert runtime.database["comments.node"].count_documents({}) == 2


def test_the_place_of_a_deleted_discussion_is_free(
    site: Client, runtime: Runtime, workers: Workers
) -> None:
    link = f"{BASE}/?p=1"
    bring(runtime, item(1, link=link, wp__post_name="first"))
    (first,) = nodes(runtime)
    assert publisher(site).delete(node(first["_id"])).status == 204
    workers.drain()

    bring(runtime, item(2, link=link, wp__post_name="second"))

    second = next(each for each in nodes(runtime) if each["removed"] is None)
    assert second["discussion"] == first["discussion"]


def test_a_page_leaves_the_forward_of_a_discussion_that_was_moved(
    site: Client, runtime: Runtime
) -> None:
    given = item(1, more=COMMENT, link=f"{BASE}/moon/")
    bring_comments(runtime, given)
    (former,) = [each["_id"] for each in runtime.database["comments.node"].find()]
    relocation.relocate(runtime, former, f"{SITE}:kept")

    bring(runtime, given)

    assert read(site, "moon", "&include=discussion").json["discussion"]["comments"] == 0
    rows = runtime.database["comments.node"]
    kept = f"{SITE}:kept"
    assert rows.count_documents({"_id": former, "vacant.moved_to": kept}) == 1
    assert rows.count_documents({"_id": kept, "counts.visible": 1}) == 1
