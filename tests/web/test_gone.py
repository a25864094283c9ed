"""What moderators hide and authors delete goes from others' screens, and nothing else does."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.support.http_client import Client
from tests.web.conftest import PATIENCE_MS, OpenPage
from tests.web.support.browser import until
from tests.web.support.site import Site
from tests.web.support.two import POLL_MS, look, with_clock

expect.set_options(timeout=PATIENCE_MS)
NODE = "harbour:moon"
COMMENTS = f"/nodes/{NODE}/comments"
FAILED = "Failed to load resource"
LOST = "This comment is no longer there."
Reading = Callable[..., Page]


@pytest.fixture(autouse=True)
def node(client: Client, site: Site) -> Client:
    """A node with nothing in it; its page is the site's, which Cleo reads."""
    admin = client.as_("admin", roles=["admin"])
    assert admin.put(f"/nodes/{NODE}", title="Moon", url="https://a.example/").status == 201
    site.body = f'<plaza-comments node="{NODE}"></plaza-comments>'
    site.token = lambda: client.token("cleo", name="Cleo")
    return client


@pytest.fixture
def reading(site: Site, open_page: OpenPage) -> Reading:
    """Opens the site's page, with so many comments; its time passes by its clock alone."""

    def opened(count: int, heading: str = "") -> Page:
        page = open_page(site, may_log=FAILED, before=with_clock)
        expect(page.get_by_role("article")).to_have_count(count)
        if heading:
            expect(page.get_by_role("heading", name=heading, exact=True)).to_be_visible()
        return page

    return opened


def posted(client: Client, text: str, parent: str = "", by: str = "ann") -> str:
    """Post a comment; return its id."""
    body = {"text": text, **({"parent": parent} if parent else {})}
    reply = client.as_(by, name=by.title()).post(COMMENTS, **body)
    assert reply.status == 201, reply.body
    return str(reply.json["id"])


def many(client: Client, count: int) -> list[str]:
    return [posted(client, f"Comment {number}.") for number in range(count)]


def put_away(client: Client, comment: str, act: str = "hidden") -> None:
    """Hide a comment, file it as spam, or delete it."""
    if act == "deleted":
        assert client.as_("ann").delete(f"{COMMENTS}/{comment}").status == 204
    else:
        admin = client.as_("admin", roles=["admin"])
        assert admin.post(f"{COMMENTS}/{comment}/state", state=act).status == 200


def shows(page: Page, ids: list[str]) -> None:
    """Wait until exactly these comments are shown; a page needs a moment after an answer."""
    until(page, lambda: shown(page) == ids)


def shown(page: Page) -> list[str]:
    """Return the ids of the comments that are shown, from the top."""
    found: list[str] = page.evaluate(
        "[...document.querySelector('plaza-comments').shadowRoot.querySelectorAll('li[id^=c-]')]"
        ".map(({ id }) => id.slice(2))"
    )
    return found


@pytest.mark.parametrize("act", ["hidden", "spam", "deleted"])
def test_what_is_put_away_goes_at_the_next_look(node: Client, reading: Reading, act: str) -> None:
    ids = many(node, 3)
    page = reading(3, "3 comments")
    put_away(node, ids[1], act)

    look(page)

    expect(page.get_by_role("article")).to_have_count(2)
    expect(page.get_by_role("heading", name="2 comments", exact=True)).to_be_visible()
    shows(page, [ids[0], ids[2]])


@pytest.mark.parametrize("act", ["hidden", "deleted"])
def test_a_thread_keeps_the_place_of_what_its_replies_answer_until_they_go(
    node: Client, reading: Reading, act: str
) -> None:
    first = posted(node, "The first.")
    reply = posted(node, "A reply.", first, by="ben")
    last = posted(node, "The last.")
    page = reading(3, "3 comments")
    put_away(node, first, act)
    look(page)
    expect(page.locator(f"#c-{first} > article")).to_have_class("gone")
    expect(page.locator(f"#c-{first} #c-{reply}")).to_contain_text("A reply.")
    expect(page.get_by_role("heading", name="2 comments", exact=True)).to_be_visible()

    admin = node.as_("admin", roles=["admin"])
    assert admin.post(f"{COMMENTS}/{reply}/state", state="hidden").status == 200
    look(page)

    expect(page.locator(f"#c-{reply}")).to_have_count(0)
    expect(page.get_by_role("heading", name="1 comment", exact=True)).to_be_visible()
    expect(page.locator(f"#c-{last}")).to_contain_text("The last.")


def test_the_last_reply_that_goes_leaves_no_trace(node: Client, reading: Reading) -> None:
    first = posted(node, "The first.")
    reply = posted(node, "A reply.", first)
    page = reading(2)
    put_away(node, reply)
    look(page)
    expect(page.locator(f"#c-{first} .thread")).to_have_count(0)
    put_away(node, first)

    look(page)

    expect(page.get_by_role("article")).to_have_count(0)
    expect(page.get_by_role("heading", name="Nobody has said anything yet.")).to_be_visible()


def test_where_a_reply_is_written_it_stays_with_a_note_and_the_text(
    node: Client, reading: Reading
) -> None:
    ids = many(node, 3)
    page = reading(3)
    page.locator(f"#c-{ids[0]} [data-does=reply]").click()
    field = page.get_by_role("textbox", name="Reply to Ann")
    field.fill("Half a thought")
    put_away(node, ids[0])
    put_away(node, ids[1])

    look(page)

    expect(page.get_by_role("article")).to_have_count(2)
    expect(page.locator(f"#c-{ids[0]} .lost")).to_have_text(LOST)
    expect(page.locator(f"#c-{ids[0]}")).to_contain_text("Comment 0.")
    expect(field).to_have_value("Half a thought")
    expect(page.get_by_role("heading", name="1 comment", exact=True)).to_be_visible()
    look(page)
    expect(page.locator(f"#c-{ids[0]} .lost")).to_have_count(1)
    page.get_by_role("button", name="Cancel").click()
    look(page)
    expect(page.get_by_role("article")).to_have_count(1)
    expect(page.get_by_role("heading", name="1 comment", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="new comment")).to_have_count(0)


def test_where_a_comment_is_edited_it_stays_with_a_note_until_it_is_back(
    node: Client, site: Site, reading: Reading
) -> None:
    site.token = lambda: node.token("ann", name="Ann")
    ids = many(node, 2)
    page = reading(2)
    page.locator(f"#c-{ids[0]} [data-does=edit]").click()
    field = page.get_by_role("textbox", name="Edit")
    field.fill("Changed by half")
    put_away(node, ids[0])
    look(page)
    expect(page.locator(f"#c-{ids[0]} form .lost")).to_have_text(LOST)
    expect(field).to_have_value("Changed by half")

    put_away(node, ids[0], "visible")
    look(page)

    expect(page.locator(".lost")).to_have_count(0)
    expect(field).to_have_value("Changed by half")
    expect(page.get_by_role("heading", name="2 comments", exact=True)).to_be_visible()


def test_pages_that_were_asked_for_are_looked_at_too(node: Client, reading: Reading) -> None:
    ids = many(node, 70)
    page = reading(50)
    page.get_by_role("button", name="Show more").click()
    expect(page.get_by_role("article")).to_have_count(70)
    for at in (10, 49, 50, 69):
        put_away(node, ids[at])
    changed = node.as_("ann").patch(f"{COMMENTS}/{ids[60]}", text="Changed.")
    assert changed.status == 200

    look(page)

    expect(page.get_by_role("article")).to_have_count(66)
    expect(page.locator(f"#c-{ids[60]}")).to_contain_text("Changed.")
    expect(page.get_by_role("heading", name="66 comments", exact=True)).to_be_visible()
    shows(page, [id_ for at, id_ in enumerate(ids) if at not in {10, 49, 50, 69}])


def test_what_moves_to_the_next_page_stays(node: Client, reading: Reading) -> None:
    """Replies that came into the first page push its last comments out of it."""
    ids = many(node, 50)
    page = reading(50)
    for number in range(3):
        posted(node, f"Reply {number}.", ids[0], by="ben")
    put_away(node, ids[30])

    look(page)

    expect(page.get_by_role("button", name="3 new comments")).to_be_visible()
    expect(page.get_by_role("heading", name="49 comments", exact=True)).to_be_visible()
    shows(page, [id_ for id_ in ids if id_ != ids[30]])


def test_what_its_author_deletes_has_its_place_back_when_more_shows_a_reply_to_it(
    node: Client, site: Site, reading: Reading
) -> None:
    site.token = lambda: node.token("ann", name="Ann")
    ids = many(node, 50)
    reply = posted(node, "A reply.", ids[-1], by="ben")
    page = reading(50)
    page.locator(f"#c-{ids[-1]} [data-does=delete]").click()
    page.locator(f"#c-{ids[-1]} .ask button").first.click()
    expect(page.locator(f"#c-{ids[-1]}")).to_have_count(0)
    page.get_by_role("button", name="Show more").click()
    expect(page.locator(f"#c-{reply}")).to_contain_text("A reply.")

    look(page)

    shows(page, [*ids, reply])
    expect(page.locator(f"#c-{ids[-1]} > article")).to_have_class("gone")
    expect(page.locator(f"#c-{ids[-1]} #c-{reply}")).to_have_count(1)
    expect(page.get_by_role("heading", name="50 comments", exact=True)).to_be_visible()


def test_a_place_goes_with_the_replies_that_were_not_shown_yet(
    node: Client, reading: Reading
) -> None:
    ids = many(node, 50)
    reply = posted(node, "A reply.", ids[-1], by="ben")
    put_away(node, ids[-1], "deleted")
    page = reading(50)
    expect(page.locator(f"#c-{ids[-1]} > article")).to_have_class("gone")
    put_away(node, reply)

    look(page)

    shows(page, ids[:-1])


def test_whom_a_comment_answers_is_told_as_long_as_that_is_there(
    node: Client, reading: Reading
) -> None:
    admin = node.as_("admin", roles=["admin"])
    admin.put(f"/nodes/{NODE}", title="Moon", url="https://a.example/", max_depth=1)
    reply = posted(node, "A reply.", posted(node, "The first."))
    answer = posted(node, "An answer to the reply.", reply)
    page = reading(3)
    link = page.locator(f"#c-{answer}").get_by_role("link", name="in reply to")
    expect(link).to_be_visible()
    put_away(node, reply)
    look(page)
    expect(link).to_have_count(0)
    put_away(node, reply, "visible")

    look(page)

    expect(link).to_be_visible()


def test_as_many_new_as_gone_are_told(node: Client, reading: Reading) -> None:
    ids = many(node, 3)
    page = reading(3)
    put_away(node, ids[0])
    posted(node, "A new one.")

    look(page)

    expect(page.get_by_role("button", name="1 new comment")).to_be_visible()
    expect(page.get_by_role("heading", name="2 comments", exact=True)).to_be_visible()
    shows(page, ids[1:])


@pytest.mark.parametrize("order", ["oldest", "newest"])
def test_a_new_reply_is_told_though_a_comment_of_the_next_page_went(
    node: Client, site: Site, reading: Reading, order: str
) -> None:
    site.body = f'<plaza-comments node="{NODE}" order="{order}"></plaza-comments>'
    ids = many(node, 60)
    listed = ids if order == "oldest" else ids[::-1]
    page = reading(50)
    reply = posted(node, "A reply.", listed[0], by="ben")
    put_away(node, listed[55])

    look(page)

    expect(page.get_by_role("heading", name="59 comments", exact=True)).to_be_visible()
    page.get_by_role("button", name="1 new comment").click()
    expect(page.locator(f"#c-{listed[0]} #c-{reply}")).to_be_visible()
    expect(page.get_by_role("heading", name="60 comments", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="Show more")).to_be_visible()


def test_what_votes_have_moved_stays(node: Client, site: Site, reading: Reading) -> None:
    admin = node.as_("admin", roles=["admin"])
    settings = {"votes": "up_down", "reactions": []}
    assert admin.put("/sites/harbour/comments/settings", **settings).status == 200
    site.body = f'<plaza-comments node="{NODE}" order="top"></plaza-comments>'
    many(node, 52)
    page = reading(50)
    before = shown(page)
    fallen = before[10]
    assert node.as_("ben").put(f"{COMMENTS}/{fallen}/vote", value=-1).status == 200
    first_page = node.get(f"{COMMENTS}?order=top&limit=50").json["comments"]
    assert fallen not in {each["id"] for each in first_page}
    put_away(node, before[5])

    look(page)

    expect(page.get_by_role("article")).to_have_count(49)
    shows(page, [id_ for id_ in before if id_ != before[5]])


def test_a_page_around_a_comment_is_looked_at_too(node: Client, reading: Reading) -> None:
    """Also if its first comment and the one that it is around are gone."""
    ids = many(node, 90)
    page = reading(50)
    page.evaluate(f"location.hash = '#plaza-{ids[60]}'")
    expect(page.locator(f"#c-{ids[60]}")).to_have_class("target")
    around = shown(page)
    assert around[0] != ids[0]
    gone = {around[0], around[1], ids[60], around[-2]}
    for comment in gone:
        put_away(node, comment)

    look(page)

    expect(page.get_by_role("article")).to_have_count(46)
    assert {*around} - {*shown(page)} == gone
    expect(page.get_by_role("heading", name="86 comments", exact=True)).to_be_visible()


def test_a_look_that_fails_takes_nothing_away(node: Client, reading: Reading) -> None:
    ids = many(node, 3)
    page = reading(3)
    put_away(node, ids[0])
    page.route(f"**/comments/{ids[0]}", lambda route: route.fulfill(status=503, json={}))
    with page.expect_response(f"**/comments/{ids[0]}"):
        page.clock.run_for(POLL_MS)
    shows(page, ids)

    page.unroute(f"**/comments/{ids[0]}")
    look(page)

    expect(page.get_by_role("article")).to_have_count(2)


def test_who_stood_on_what_is_gone_stands_on_the_discussion(node: Client, reading: Reading) -> None:
    ids = many(node, 2)
    page = reading(2)
    page.locator(f"#c-{ids[0]} [data-does=reply]").focus()
    put_away(node, ids[0])

    look(page)

    expect(page.get_by_role("article")).to_have_count(1)
    focused = "document.querySelector('plaza-comments').shadowRoot.activeElement?.localName"
    assert page.evaluate(focused) == "section"
