"""The console's page of imports and exports: a file is tried, read about, and applied."""

import gzip
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from tests.comments.transfers.support.files import lines_file
from tests.support.workers import Workers
from tests.web.console.conftest import PHONE, WIDER, Desk, handed_over
from tests.web.support.axe import in_both_schemes
from tests.web.support.browser import until

NDJSON = "application/x-ndjson"


def open_imports(desk: Desk, **options: Any) -> Page:
    claims = {"name": "Paula", "roles": ["publisher"], "sites": ["harbour"]}
    page = handed_over(desk.open_page, desk.client.token("paula", **claims), **options)
    expect(page.get_by_role("heading", name="Waiting for you")).to_be_visible()
    page.goto(f"{page.url.partition('#')[0]}#imports")
    expect(page.get_by_role("heading", name="Import and export")).to_be_visible()
    return page


def try_file(page: Page, content: bytes, name: str = "old.ndjson") -> None:
    field = page.get_by_label("The other system's file")
    field.set_input_files({"name": name, "mimeType": NDJSON, "buffer": content})
    page.get_by_role("button", name="Try the file").press("Enter")


def section(page: Page, name: str) -> Any:
    return page.get_by_role("region", name=name, exact=True)


def broken_by_one(content: bytes) -> bytes:
    """Return a file of which one comment cannot come over."""
    return content.replace(b'"text": "text 1"', b'"text": " "')


def test_a_file_is_tried_and_then_imported(desk: Desk, workers: Workers) -> None:
    page = open_imports(desk)

    try_file(page, broken_by_one(lines_file(5)))
    expect(section(page, "Import")).to_contain_text("The file is being read.")
    workers.drain()

    expect(section(page, "Import")).to_contain_text("The file was tried, and nothing was changed.")
    expect(page.get_by_role("heading", name="Import", exact=True)).to_be_focused()
    report = page.get_by_role("list", name="Report").get_by_role("listitem")
    expect(report).to_contain_text(
        ["Comments in the file: 5", "Would be imported: 4", "Would be left out: 1"]
    )
    page.get_by_text("What did not come as it was").click()
    expect(page.get_by_role("region", name="Places in the file")).to_contain_text("empty")
    assert desk.admin.get("/nodes/harbour:a-page").status == 404

    page.get_by_role("button", name="Import it").press("Enter")
    expect(section(page, "Import")).to_contain_text("The file is being read.")
    workers.drain()

    expect(page.get_by_role("status")).to_have_text("Done.")
    expect(report.nth(1)).to_have_text("Imported: 4")
    assert desk.admin.get("/nodes/harbour:a-page").json["counts"]["visible"] == 4


def test_what_waits_is_there_when_its_publisher_comes_back(desk: Desk, workers: Workers) -> None:
    page = open_imports(desk)
    try_file(page, lines_file(3))
    expect(section(page, "Import")).to_contain_text("The file is being read.")
    workers.drain()
    expect(page.get_by_role("button", name="Import it")).to_be_visible()

    page.reload()

    page.get_by_role("button", name="Discard the file").click()
    expect(page.get_by_role("status")).to_have_text("Stopped.")
    page.get_by_role("button", name="Import another file").click()
    expect(page.get_by_label("The other system's file")).to_be_visible()


def test_what_is_at_work_is_followed_when_its_publisher_comes_back(
    desk: Desk, workers: Workers
) -> None:
    desk.post("The moon is up.")
    page = open_imports(desk)
    try_file(page, lines_file(3))
    expect(section(page, "Import")).to_contain_text("The file is being read.")
    page.get_by_role("button", name="Export", exact=True).click()
    expect(section(page, "Export")).to_contain_text("comments are written")

    page.reload()
    expect(section(page, "Import")).to_contain_text("The file is being read.")
    expect(section(page, "Export")).to_contain_text("comments are written")
    workers.drain()

    expect(page.get_by_role("button", name="Import it")).to_be_visible()
    expect(page.get_by_role("button", name="Download harbour.ndjson.gz")).to_be_visible()


def test_an_import_is_followed_past_a_question_without_an_answer(
    desk: Desk, workers: Workers
) -> None:
    page = open_imports(desk, may_log="net::ERR")
    cut: list[Route] = []

    def cut_first(route: Route) -> None:
        if cut or route.request.method != "GET":
            route.continue_()
        else:
            cut.append(route)
            route.abort()

    page.route("**/imports/*", cut_first)
    try_file(page, lines_file(3))
    until(page, lambda: bool(cut))
    workers.drain()

    expect(page.get_by_role("button", name="Import it")).to_be_visible()


def test_progress_leaves_the_focus_on_the_button(desk: Desk, workers: Workers) -> None:
    page = open_imports(desk)
    done = 0

    def tell_progress(route: Route) -> None:
        nonlocal done
        if route.request.method != "GET":
            route.continue_()
            return
        answer = route.fetch().json()
        done += 1
        route.fulfill(json={**answer, "progress": {"part": "reading", "done": done, "total": 99}})

    page.route("**/imports/*", tell_progress)
    try_file(page, lines_file(3))
    bar = page.get_by_role("progressbar", name="Bytes read")
    expect(bar).to_have_attribute("value", "1")
    stop = page.get_by_role("button", name="Stop")
    stop.focus()

    expect(bar).not_to_have_attribute("value", "1")
    expect(stop).to_be_focused()
    page.keyboard.press("Enter")
    workers.drain()
    expect(page.get_by_role("status")).to_have_text("Stopped.")


def test_a_file_of_which_a_part_is_lost_can_be_discarded(desk: Desk) -> None:
    page = open_imports(desk, may_log="net::ERR")
    page.route(
        "**/*",
        lambda route: route.abort() if route.request.method == "PUT" else route.fallback(),
    )

    try_file(page, lines_file(3))

    expect(page.get_by_role("status")).to_have_text("Plaza does not answer. Try again.")
    expect(section(page, "Import")).to_contain_text("The file was not sent to its end.")
    expect(page.get_by_role("heading", name="Import", exact=True)).to_be_focused()
    page.get_by_role("button", name="Discard the file").click()
    expect(page.get_by_role("status")).to_have_text("Stopped.")
    page.get_by_role("button", name="Import another file").click()
    expect(page.get_by_label("The other system's file")).to_be_visible()


def test_a_part_is_sent_once_more_to_a_new_address(desk: Desk, workers: Workers) -> None:
    page = open_imports(desk, may_log="403")
    sent: list[str] = []

    def refuse_first(route: Route) -> None:
        if route.request.method != "PUT":
            route.fallback()
            return
        sent.append(route.request.url)
        # As the bucket answers at an address of more than an hour.
        if len(sent) == 1:
            route.fulfill(status=403, content_type="application/xml", body="<Error/>")
        else:
            route.continue_()

    page.route("**/parts/*", refuse_first)
    try_file(page, lines_file(3))
    expect(section(page, "Import")).to_contain_text("The file is being read.")
    workers.drain()

    expect(page.get_by_role("button", name="Import it")).to_be_visible()
    assert len(sent) == 2


def test_a_download_without_an_answer_says_so(desk: Desk, workers: Workers) -> None:
    desk.post("The moon is up.")
    page = open_imports(desk, may_log="net::ERR")
    page.get_by_role("button", name="Export", exact=True).click()
    expect(page.get_by_role("status")).to_have_text("The export is being written.")
    workers.drain()
    expect(page.get_by_role("status")).to_have_text("The export is ready.")
    page.route("**/exports/*/**", lambda route: route.abort())

    page.get_by_role("button", name="Download harbour.ndjson.gz").click()

    expect(page.get_by_role("status")).to_have_text("Plaza does not answer. Try again.")


def test_a_file_that_is_none_says_so(desk: Desk, workers: Workers) -> None:
    page = open_imports(desk)

    try_file(page, b"Dear Plaza,", "letter.txt")
    expect(section(page, "Import")).to_contain_text("The file is being read.")
    workers.drain()

    expect(page.get_by_role("status")).to_have_text("Failed.")
    expect(section(page, "Import")).to_contain_text("The beginning of the file tells no format")


def test_an_export_is_downloaded(desk: Desk, workers: Workers, tmp_path: Path) -> None:
    desk.post("The moon is up.")
    page = open_imports(desk)

    page.get_by_role("button", name="Export", exact=True).click()
    expect(page.get_by_role("status")).to_have_text("The export is being written.")
    workers.drain()

    expect(page.get_by_role("status")).to_have_text("The export is ready.")
    with page.expect_download() as coming:
        page.get_by_role("button", name="Download harbour.ndjson.gz").click()
    saved = tmp_path / "saved.gz"
    coming.value.save_as(saved)
    assert coming.value.suggested_filename == "harbour.ndjson.gz"
    assert b"The moon is up." in gzip.decompress(saved.read_bytes())


@pytest.mark.parametrize("options", [{}, PHONE], ids=["desk", "phone"])
def test_it_fits_and_can_be_read_by_all(
    desk: Desk, workers: Workers, axe: str, options: dict[str, Any]
) -> None:
    page = open_imports(desk, **options)
    assert in_both_schemes(page, axe) == []
    try_file(page, broken_by_one(lines_file(5)))
    expect(section(page, "Import")).to_contain_text("The file is being read.")
    workers.drain()
    page.get_by_text("What did not come as it was").click()

    assert page.evaluate(WIDER) == 0
    assert in_both_schemes(page, axe) == []


def test_moderators_have_no_such_page(desk: Desk) -> None:
    page = desk.open()

    expect(page.get_by_role("link", name="Log")).to_be_visible()
    expect(page.get_by_role("link", name="Import and export")).to_have_count(0)
