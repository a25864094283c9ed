"""A site's settings: who sets them, what they change, and what they refuse."""

from datetime import timedelta
from typing import Any

import pytest

from chalicelib.analytics import settings
from chalicelib.runtime import Runtime
from tests.analytics.support.hits import SITE, at, count, view
from tests.support.http_client import Client

NOON = at("2026-03-01 12:00")
PATH = f"/sites/{SITE}/analytics"


def test_analytics_are_switched_on_with_what_is_usual(publisher: Client) -> None:
    assert publisher.get(PATH).code == "unknown_site"

    reply = publisher.put(PATH)

    assert reply.status == 200
    assert (
        publisher.get(PATH).json
        == reply.json
        == {
            "site": SITE,
            "origins": [],
            "keep_days": 90,
            "log": "expiring",
            "layout": "hierarchical",
            "user_reports": False,
            "public": False,
            "time_zone": "UTC",
            "moving": None,
            "size": {},
        }
    )


def test_settings_are_changed_and_the_size_of_each_log_is_told(
    runtime: Runtime, publisher: Client
) -> None:
    publisher.put(PATH, origins=["https://blog.example:8443"], public=True, log="capped")
    count(runtime, view(1, NOON), view(2, NOON + timedelta(hours=1)))

    answer = publisher.get(PATH).json

    assert (answer["origins"], answer["public"]) == (["https://blog.example:8443"], True)
    assert answer["size"].keys() == {"capped"}
    assert (
        answer["size"]["capped"].items() >= {"hits": 2, "oldest_at": "2026-03-01T12:00:00Z"}.items()
    )
    assert publisher.put(PATH, log="capped").json["origins"] == []


@pytest.mark.parametrize(
    "body",
    [
        {"keep_days": 14},
        {"keep_days": 3_651},
        {"log": "tape"},
        {"layout": "round"},
        {"origins": ["https://blog.example/"]},
        {"origins": ["blog.example"]},
        {"origins": ["javascript://x"]},
        {"origins": ["https://a.example"] * 21},
        {"public": "yes"},
        {"time_zone": "Mars/Olympus"},
        {"time_zone": None},
        {"more": 1},
    ],
)
def test_bad_settings_are_refused(publisher: Client, body: dict[str, Any]) -> None:
    assert publisher.put(PATH, **body).code == "invalid_request"
    assert publisher.get(PATH).code == "unknown_site"


def test_a_time_series_and_reports_by_user_exclude_each_other(publisher: Client) -> None:
    both = {"log": "timeseries", "user_reports": True}
    assert publisher.put(PATH, **both).code == "log_cannot_forget"
    publisher.put(PATH, user_reports=True)

    assert publisher.post(f"{PATH}/log", log="timeseries").code == "log_cannot_forget"
    assert publisher.put(PATH, log="timeseries").json["moving"]["to_log"] == "timeseries"
    assert publisher.put(PATH, user_reports=True).code == "log_cannot_forget"


def test_reports_by_user_wait_until_a_time_series_is_left(publisher: Client) -> None:
    """Containers write to the former log for a while, which would lose the users of these hits."""
    publisher.put(PATH, log="timeseries")

    refused = publisher.put(PATH, log="expiring", user_reports=True)

    assert refused.code == "log_cannot_forget"
    assert publisher.get(PATH).json["log"] == "timeseries"


def test_a_move_is_begun_once(publisher: Client) -> None:
    publisher.put(PATH)

    first = publisher.post(f"{PATH}/log", log="rotating")
    again = publisher.post(f"{PATH}/log", log="capped")

    assert (first.status, again.code) == (202, "move_in_progress")
    assert first.json["moving"] == {
        "from_log": "expiring",
        "to_log": "rotating",
        "announced_at": "2026-03-01T12:00:00Z",
    }
    assert publisher.put(PATH, log="capped").code == "move_in_progress"
    assert publisher.put(PATH, log="expiring", public=True).json["public"] is True


def test_a_move_to_where_the_hits_are_is_none(publisher: Client) -> None:
    publisher.put(PATH)

    assert publisher.post(f"{PATH}/log", log="expiring").json["moving"] is None


@pytest.mark.parametrize(("what", "value"), [("log", "rotating"), ("layout", "flat")])
def test_an_unknown_site_moves_nothing(publisher: Client, what: str, value: str) -> None:
    assert publisher.post(f"{PATH}/{what}", **{what: value}).code == "unknown_site"


def test_a_layout_is_changed_at_once_for_what_comes(publisher: Client) -> None:
    publisher.put(PATH)

    assert publisher.post(f"{PATH}/layout", layout="flat").json["layout"] == "flat"
    assert publisher.get(PATH).json["layout"] == "flat"
    assert publisher.put(PATH).json["layout"] == "hierarchical"


def test_reports_of_users_do_not_begin_beside_a_move_to_a_log_that_cannot_forget(
    publisher: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    publisher.put(PATH)
    put = settings.put

    def put_after_the_move(*given: Any) -> Any:
        monkeypatch.setattr(settings, "put", put)
        assert publisher.post(f"{PATH}/log", log="timeseries").status == 202
        return put(*given)

    monkeypatch.setattr(settings, "put", put_after_the_move)
    refused = publisher.put(PATH, user_reports=True)

    assert (refused.status, refused.code) == (503, "unavailable")
    assert publisher.put(PATH, user_reports=True).code == "log_cannot_forget"
    assert publisher.get(PATH).json["user_reports"] is False


def test_of_two_first_settings_at_once_each_sees_the_log_of_the_other(
    publisher: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    put = settings.put

    def put_second(*given: Any) -> Any:
        monkeypatch.setattr(settings, "put", put)
        assert publisher.put(PATH, log="timeseries").status == 200
        return put(*given)

    monkeypatch.setattr(settings, "put", put_second)

    assert publisher.put(PATH, user_reports=True).status == 503
    assert publisher.get(PATH).json["user_reports"] is False
