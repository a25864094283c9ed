"""What a call leaves in the log: its line, its metric, its audit, and no secret."""

import json
import time
from collections.abc import Callable
from typing import Any

import pytest

from tests.http.support.things import JSON
from tests.support.http_client import Client


def test_a_request_is_one_line_of_json(api: Client, log_lines: Any) -> None:
    api.put("/things/abc", name="ball")

    _, line = log_lines()
    assert (line["method"], line["route"], line["status"]) == ("PUT", "/things/{thing}", 200)
    assert line["request_ms"] >= 0


def test_a_requests_line_is_its_metric_too(api: Client, log_lines: Any) -> None:
    """By the specification of CloudWatch's embedded metric format."""
    api.put("/things/abc", name="ball")

    _, line = log_lines()
    (directive,) = line["_aws"]["CloudWatchMetrics"]
    assert directive["Namespace"] == "Plaza"
    assert directive["Metrics"] == [{"Name": "request_ms", "Unit": "Milliseconds"}]
    assert directive["Dimensions"] == [["method", "route"], ["status_class"], []]
    assert line["status_class"] == "2xx"
    assert abs(line["_aws"]["Timestamp"] - time.time() * 1000) < 60_000


def test_an_answer_says_what_to_look_for_in_the_log(api: Client, log_lines: Any) -> None:
    answers = [api.put("/things/abc", name="ball"), api.get("/crash"), api.get("/things?limit=0")]

    for answer in answers:
        request_id = answer.headers["X-Request-Id"]
        assert request_id in {line["correlation_id"] for line in log_lines()}
        assert "X-Request-Id" in answer.headers["Access-Control-Expose-Headers"].split(",")
    assert len({answer.headers["X-Request-Id"] for answer in answers}) == 3


def test_a_clients_own_request_id_is_not_taken_over(api: Client) -> None:
    answer = api.request("GET", "/things", headers={"X-Request-Id": "mine"})

    assert answer.headers["X-Request-Id"] != "mine"


def audits(log_lines: Callable[[], list[dict[str, Any]]]) -> list[dict[str, Any]]:
    return [line for line in log_lines() if line["message"] == "audit"]


def test_a_write_says_who_did_what_to_whose(api: Client, log_lines: Any) -> None:
    reply = api.as_("ann", roles=["publisher"]).put("/owned/abc", name="ball")

    (line,) = audits(log_lines)
    assert line["correlation_id"] == reply.headers["X-Request-Id"]
    assert (line["caller"], line["roles"], line["status"]) == ("ann", ["publisher"], 200)
    assert (line["method"], line["route"]) == ("PUT", "/owned/{thing}")
    assert line["things"] == {"thing": "abc"}
    assert line["details"] == {"amount_micros": 7}


def test_an_id_is_audited_the_same_however_it_was_encoded(api: Client, log_lines: Any) -> None:
    for path in ("/owned/harbour:moon", "/owned/harbour%3Amoon"):
        api.as_("ann", roles=["publisher"]).put(path, name="ball")

    assert [line["things"] for line in audits(log_lines)] == [{"thing": "harbour:moon"}] * 2


@pytest.mark.parametrize(
    ("claims", "body", "status"),
    [({}, b"{", 400), ({}, b'{"name":"too long"}', 422), ({"roles": ["advertiser"]}, b"{}", 422)],
)
def test_a_write_that_is_refused_is_audited_too(
    api: Client, log_lines: Any, claims: Any, body: bytes, status: int
) -> None:
    api.as_("ann", **claims).request("PUT", "/owned/abc", body=body, headers=JSON)

    (line,) = audits(log_lines)
    assert (line["caller"], line["status"]) == ("ann", status)


def test_a_write_of_nobody_is_audited_as_such(api: Client, log_lines: Any) -> None:
    api.put("/owned/abc", name="ball")
    api.request("PUT", "/owned/%24", headers={**JSON, "Authorization": "Bearer a.b.c"})

    assert [(line["caller"], line["status"]) for line in audits(log_lines)] == [
        (None, 401),
        (None, 422),
    ]


def test_a_read_that_needs_a_role_is_audited_and_another_is_not(
    api: Client, log_lines: Any
) -> None:
    api.as_("ann", roles=["moderator"]).get("/staff")
    api.as_("bob").get("/staff")
    api.as_("ann").get("/things")

    assert [(line["caller"], line["status"]) for line in audits(log_lines)] == [
        ("ann", 200),
        ("bob", 403),
    ]


def test_an_audit_line_holds_no_secret_and_is_bounded(api: Client, log_lines: Any) -> None:
    api.request("DELETE", "/secrets/worth-much")
    api.put("/owned/" + "x" * 5_000, name="private")

    secret, long = audits(log_lines)
    assert secret["things"] == {}
    assert len(json.dumps(long)) < 1_000
    assert "private" not in json.dumps(long)


def test_the_log_has_no_token_and_no_text(api: Client, log_lines: Any) -> None:
    caller = api.as_("ann")
    caller.put("/things/abc", name="private words")
    caller.get("/crash")

    text = json.dumps(log_lines())
    assert "private words" not in text
    assert caller.headers["Authorization"].removeprefix("Bearer ") not in text


def test_the_log_names_an_unexpected_failure_and_its_place(api: Client, log_lines: Any) -> None:
    api.get("/crash")

    (line,) = [line for line in log_lines() if line["level"] == "ERROR"]
    assert line["exception"] == "ZeroDivisionError"
    assert any("things.py" in frame for frame in line["traceback"])
    assert "the secret of the house" not in json.dumps(log_lines())


def test_the_log_names_the_setting_that_is_missing(api: Client, log_lines: Any) -> None:
    api.get("/misconfigured")

    assert any(line.get("reason") == "PLAZA_SECRET is not set" for line in log_lines())
