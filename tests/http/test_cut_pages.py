"""Answers that would outgrow Lambda's 6 MB: pages are cut, and everything else is refused."""

import base64
from collections.abc import Callable
from datetime import date
from typing import Any

import pytest
from chalice.app import Blueprint
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.http import Ok, PageQuery, Request, Retired, Text, responses, router
from chalicelib.http.paging import Cursors, page_of
from chalicelib.http.responses import MAX_BINARY_BYTES, MAX_BYTES, fits, sent_bytes
from chalicelib.runtime import Runtime
from tests.http.support.things import app_with
from tests.support.http_client import Client, Reply

RETIRED = Retired(date(2026, 1, 1), date(2026, 7, 1))
# The heaviest character of each kind, by its bytes in a payload.
HEAVIEST = {"astral": "\N{DUCK}", "accented": "é", "quoted": '"', "control": "\x01", "plain": "a"}


def listing(rows: list[str], calls: list[int]) -> Callable[[Runtime], Blueprint]:
    """Return an API that lists these rows; `calls` notes the limit of each reading."""

    def declare(runtime: Runtime) -> Blueprint:
        blueprint = Blueprint(__name__)
        route = router(blueprint, runtime)

        @route("GET", "/rows")
        def list_rows(request: Request, query: PageQuery) -> Ok[Any]:
            calls.append(query.limit)
            cursors = Cursors("rows", request.runtime.settings.signing_keys)
            (begin,) = cursors.position(query) or (0,)
            read = list(enumerate(rows))[begin : begin + query.limit + 1]
            shown, last = page_of(read, query.limit)
            following = cursors.following([last[0] + 1] if last else None)
            return Ok({"rows": [row for _, row in shown], "next": following})

        @route("GET", "/first", rows=len(rows))
        def read_first(request: Request) -> Text:
            calls.append(request.rows)
            return Text("".join(rows[: request.rows]))

        @route("GET", "/old-rows", rows=len(rows), retired=RETIRED)
        def read_old_rows(request: Request) -> Text:
            return Text("".join(rows[: request.rows]))

        @route("GET", "/all")
        def read_all(_request: Request) -> Ok[Any]:
            return Ok({"rows": rows})

        @route("POST", "/rows", rows=len(rows))
        def write_rows(request: Request) -> Text:
            calls.append(request.rows)
            return Text("".join(rows[: request.rows]))

        return blueprint

    return declare


@pytest.fixture
def api_of(runtime: Runtime, token: Callable[..., str]) -> Callable[..., Client]:
    def api(rows: list[str], calls: list[int] | None = None) -> Client:
        return Client(app_with(runtime, listing(rows, [] if calls is None else calls)), token)

    return api


def walk(api: Client, path: str) -> list[Reply]:
    """Return every page of a listing."""
    pages = [api.get(path)]
    while pages[-1].json["next"] is not None:
        pages.append(api.get(f"{path}&cursor={pages[-1].json['next']}"))
    return pages


@pytest.mark.parametrize("character", HEAVIEST.values(), ids=HEAVIEST.keys())
def test_pages_of_large_rows_are_cut_and_lose_nothing(
    api_of: Callable[..., Client], character: str
) -> None:
    rows = [f"{number:03}{character * 60_000}" for number in range(120)]

    pages = walk(api_of(rows), "/rows?limit=100")

    assert [row for page in pages for row in page.json["rows"]] == rows
    assert all(page.json["rows"] for page in pages)
    assert all(sent_bytes(page.body.decode()) <= MAX_BYTES for page in pages)


def test_one_large_row_among_small_ones_is_listed_once(api_of: Callable[..., Client]) -> None:
    rows = ["a"] * 40 + ["\N{DUCK}" * 450_000] + ["\N{DUCK}" * 20_000] + ["b"] * 40

    pages = walk(api_of(rows), "/rows?limit=200")

    assert [row for page in pages for row in page.json["rows"]] == rows


def test_a_page_that_fits_is_read_once(api_of: Callable[..., Client]) -> None:
    calls: list[int] = []

    assert api_of(["a" * 1_000] * 200, calls).get("/rows?limit=200").status == 200
    assert calls == [200]


def test_a_page_is_read_few_times_however_large(api_of: Callable[..., Client]) -> None:
    calls: list[int] = []

    assert api_of(["a" * 1_000_000] * 200, calls).get("/rows?limit=200").status == 200
    assert calls == [200, 5]


def test_a_single_row_that_no_answer_can_hold_is_a_problem(
    api_of: Callable[..., Client], caplog: pytest.LogCaptureFixture
) -> None:
    rows = ["small", "a" * (MAX_BYTES + 1), "small"]

    reply = api_of(rows).get("/rows?limit=3")
    first = api_of(rows).get("/rows?limit=1")
    large = api_of(rows).get(f"/rows?limit=1&cursor={first.json['next']}")

    assert reply.json["rows"] == ["small"]
    assert (large.status, large.code) == (500, "internal")
    failed = [each.__dict__["fields"]["reason"] for each in caplog.records if each.exc_info]
    assert failed == [f"{MAX_BYTES + 52} bytes"]


def test_an_answer_without_a_limit_is_cut_where_its_route_declares_rows(
    api_of: Callable[..., Client],
) -> None:
    calls: list[int] = []

    assert api_of(["a" * 1_000_000] * 8, calls).get("/first").body == b"a" * 4_000_000
    assert calls == [8, 4]


def test_any_other_answer_that_is_too_large_is_a_problem(api_of: Callable[..., Client]) -> None:
    answered = api_of(["a" * 1_000_000] * 6).get("/all")

    assert (answered.status, answered.code) == (500, "internal")


def test_a_write_is_not_made_again_for_its_answer(api_of: Callable[..., Client]) -> None:
    calls: list[int] = []

    answered = api_of(["a" * 1_000_000] * 6, calls).post("/rows")

    assert (answered.status, answered.code) == (500, "internal")
    assert calls == [6]


@given(st.text(), st.integers(0, 5))
def test_a_body_fits_exactly_if_its_bytes_do(text: str, spare: int) -> None:
    size = sent_bytes(text)
    for most in (size + spare, size - 1 - spare):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(responses, "MAX_BYTES", most)
            assert fits(text) == (size <= most)


@pytest.mark.parametrize("length", [0, 1, 2, 3, 4, 999, 1_000])
def test_bytes_are_measured_in_base64(length: int) -> None:
    assert sent_bytes(b"a" * length) == len(base64.b64encode(b"a" * length))


def test_as_many_bytes_fit_as_lambda_takes_in_base64() -> None:
    assert fits(bytes(MAX_BINARY_BYTES))
    assert not fits(bytes(MAX_BINARY_BYTES + 1))
    assert sent_bytes(bytes(MAX_BINARY_BYTES)) < 6_291_556 - 500_000


def test_a_cut_answer_of_a_retired_route_says_so_too(api_of: Callable[..., Client]) -> None:
    answer = api_of(["a" * 60_000] * 120).get("/old-rows")

    assert answer.status == 200
    assert len(answer.body) < MAX_BYTES
    assert answer.headers["Deprecation"] == "@1767225600"
