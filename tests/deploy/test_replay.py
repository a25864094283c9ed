"""The calls of the audit log that a restored database hears of again."""

import json
import re
from datetime import timedelta

import pytest

from deploy.declared import ROOT
from deploy.replay import (
    CHOICE,
    CLAIM,
    DELETIONS,
    JOINING,
    REMOVALS,
    ROUTES,
    STOP,
    Deletion,
    Removal,
    Standing,
    may_be_cut,
    read_audit,
)
from tests.deploy.support.restoring import SITE, audit_line
from tests.support.clock import START
from tests.support.http_client import Client


def test_the_log_is_read_by_its_audit_lines_after_the_point() -> None:
    lines = [
        audit_line(START - timedelta(minutes=10, seconds=1), caller="too-early"),
        audit_line(START - timedelta(minutes=10), caller="earlier"),
        audit_line(START - timedelta(seconds=1), caller="reads", method="GET"),
        f"2026-11-25T14:00:00Z 1f0 {audit_line(START)}",
        audit_line(START, caller="refused", status=401),
        audit_line(START, caller="reads", method="GET"),
        audit_line(START, caller="else", route="/users/me/circles/{circle}"),
        json.dumps({"message": "request", "time": START.isoformat()}),
        "REPORT RequestId: 1",
        "{broken",
        audit_line(
            START,
            caller="ben",
            route="/users/me/assets/{asset}/versions/{number}",
            status=204,
            things={"asset": "a1", "number": "2"},
        ),
        audit_line(
            START,
            route="/content/{site}/assets/{asset}/versions/{number}",
            status=204,
            things={"site": "blog", "asset": "a2", "number": "1"},
        ),
        audit_line(
            START,
            route="/content/{site}/assets/{asset}",
            status=204,
            things={"site": "blog", "asset": "a3"},
        ),
        audit_line(
            START,
            caller=None,
            method="POST",
            route="/orders/{order}/erasure",
            status=200,
            things={"order": "o1"},
        ),
    ]

    found = read_audit(lines, START)

    assert (found.erasures, found.earlier) == ({"ann"}, {"earlier"})
    assert found.orders == {"o1"}
    assert found.deletions == {Deletion("blog", "a3")}
    assert found.removals == {Removal("~ben", "a1", 2), Removal("blog", "a2", 1)}


def test_what_an_erased_person_took_along_after_the_point_is_erased_too() -> None:
    guest, imported = f"g_{'a' * 22}", f"i_{'b' * 22}"

    def took(route: str, caller: str, minutes: int = 0, **details: list[str]) -> str:
        at = START + timedelta(minutes=minutes)
        return audit_line(
            at, method="POST", route=route, caller=caller, status=200, details=details
        )

    lines = [
        took(JOINING, "ann", joined=[guest, imported]),
        took(CLAIM, "ann", orders=["o1", "o2"]),
        took(JOINING, "ben", joined=[f"g_{'c' * 22}"]),
        audit_line(START + timedelta(minutes=1), caller="ann"),
        took(CLAIM, "ann", 2, orders=["o3"]),
    ]

    found = read_audit(lines, START)

    assert found.erasures == {"ann", guest}
    assert found.imported == {imported}
    assert found.orders == {"o1", "o2"}


def test_an_erasure_that_answered_a_failure_may_have_begun() -> None:
    erase = {"method": "POST", "route": "/orders/{order}/erasure", "things": {"order": "o1"}}

    found = read_audit(
        [
            audit_line(START, caller="ann", status=503),
            audit_line(START, caller="ben", status=422),
            audit_line(START, **erase, status=500),
            audit_line(START, route="/users/me/assets/{asset}", things={"asset": "a"}, status=503),
        ],
        START,
    )

    assert (found.erasures, found.orders, found.deletions) == ({"ann"}, {"o1"}, set())


def test_who_stopped_their_letters_is_known() -> None:
    stop = {"method": "POST", "route": STOP, "caller": None, "status": 200}

    found = read_audit([audit_line(START, **stop, details={"person": "ann"})], START)

    assert found.stopped == {"ann"}


def test_of_several_choices_of_letters_the_last_holds() -> None:
    def chosen(minutes: int, user: str, every: str, status: int = 200) -> str:
        said = {"caller": user, "status": status, "details": {"every": every}}
        return audit_line(
            START + timedelta(minutes=minutes), method="PUT", route=CHOICE, things={}, **said
        )

    stop = {"method": "POST", "route": STOP, "caller": None, "status": 200}
    lines = [
        chosen(2, "ann", "daily"),
        audit_line(START, **stop, details={"person": "ann"}),
        chosen(1, "ben", "off"),
        chosen(1, "cyd", "off", status=429),
        chosen(0, "ben", "hourly"),
    ]

    assert read_audit(lines, START).stopped == {"ben"}


@pytest.mark.parametrize(("number", "is_cut"), [(9_999, False), (10_000, True), (10_001, False)])
def test_as_many_calls_as_an_answer_of_the_log_has_may_be_cut(number: int, *, is_cut: bool) -> None:
    lines = [audit_line(START, route="/else")] * number

    assert may_be_cut([*lines, "REPORT", ""]) == is_cut


def test_the_documented_query_asks_for_all_routes_that_are_read(client: Client) -> None:
    text = (ROOT / "docs" / "operations" / "database.md").read_text()
    (query,) = re.findall(r"route in (\[[^\]]*\])", text)

    assert set(json.loads(query)) == ROUTES
    assert set(client.get("/openapi.json").json["paths"]) >= ROUTES


def test_an_erasure_by_a_publisher_is_repeated_whatever_it_answered() -> None:
    def erasure(user: str, status: int) -> str:
        route, things = "/sites/{site}/people/{user}", {"site": SITE, "user": user}
        return audit_line(
            START, method="DELETE", route=route, status=status, things=things, details={}
        )

    found = read_audit([erasure("g_1", 202), erasure("i_1", 503), erasure("g_2", 403)], START)

    assert (found.erasures, found.standings) == ({"g_1", "i_1"}, {})


def test_the_newest_line_may_come_first_and_an_erasure_ends_earlier_decisions() -> None:
    def decision(minutes: int, user: str, status: str) -> str:
        return audit_line(
            START + timedelta(minutes=minutes),
            method="PATCH",
            route="/sites/{site}/people/{user}",
            status=200,
            things={"site": SITE, "user": user},
            details={"status": status},
        )

    lines = [
        decision(3, "ben", "ok"),
        decision(3, "ann", "shadowed"),
        audit_line(START + timedelta(minutes=2)),
        decision(1, "ben", "banned"),
        decision(1, "ann", "banned"),
    ]

    decided = read_audit(lines, START).standings
    before = read_audit([*lines[2:], decision(0, "cyd", "banned")], START).standings

    assert decided[SITE, "ben"] == Standing(SITE, "ben", "ok")
    assert decided[SITE, "ann"] == Standing(SITE, "ann", "shadowed")
    assert set(before) == {(SITE, "ben"), (SITE, "cyd")}


def test_lines_that_are_cut_or_quoted_are_counted_and_others_are_not() -> None:
    whole = audit_line(START)
    quoted = '"' + whole.replace('"', '""') + '"'
    lines = [whole, "", "END RequestId: 1", whole[:-9], quoted, "[1, {}]", '{"message": "audit"}']

    found = read_audit(lines, START)

    assert (found.calls, found.unread) == (1, [4, 5, 6, 7])


def test_all_routes_that_delete_assets_are_known(client: Client) -> None:
    paths = client.get("/openapi.json").json["paths"]

    deleting = {path for path, methods in paths.items() if "delete" in methods}
    assert {path for path in deleting if "/assets/" in path} == DELETIONS | REMOVALS
