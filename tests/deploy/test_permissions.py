"""What a function may send: the tests refuse what IAM would."""

from collections.abc import Callable
from typing import Any

import pytest
from chalice.app import Chalice

from chalicelib.comments import nodes
from chalicelib.runtime import Runtime
from deploy import permissions
from local.schedules import scheduled_event
from tests.conftest import Workers

Schedule = Callable[[], Any]


@pytest.fixture
def tend_comments(app: Chalice, runtime: Runtime, workers: Workers) -> Schedule:
    """The schedule, with a move to send again whose message was lost."""
    assert workers.drain() == 0
    nodes.insert(runtime.database, nodes.new_node("moon"))
    nodes.want_store(runtime.database, "moon", "buckets")
    return lambda: app.handler_map["tend_comments"](scheduled_event("tend_comments"), None)


def test_a_function_may_send_what_its_policy_names(
    tend_comments: Schedule, workers: Workers
) -> None:
    tend_comments()

    assert workers.drain() == 1


def test_a_function_may_send_nothing_else(
    tend_comments: Schedule, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(permissions.SENDS, "tend_comments", ())

    with pytest.raises(PermissionError, match=r"tend_comments may not send .* SENDS"):
        tend_comments()
