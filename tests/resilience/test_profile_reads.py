"""The one read of a decision, which the driver does not repeat by itself."""

from collections.abc import Iterator
from typing import Any

import pytest

from chalicelib.ads.visitors import histories, profiles
from chalicelib.ads.visitors.histories import VisitorProfile
from chalicelib.runtime import Runtime
from tests.ads.serving.support.zones import event
from tests.resilience.replica_set import ReplicaSet
from tests.support.clock import START

pytestmark = pytest.mark.processes

NOT_PRIMARY = 10_107


@pytest.fixture(params=[{"closeConnection": True}, {"errorCode": NOT_PRIMARY}], ids=str)
def failing(request: pytest.FixtureRequest, replica_set: ReplicaSet) -> Iterator[Any]:
    """Gives a call after which one read fails, as when a primary goes."""
    point = {"configureFailPoint": "failCommand"}
    failure = {"failCommands": ["find"], "appName": "plaza", **request.param}

    def fail() -> None:
        once = {**point, "mode": {"times": 1}, "data": failure}
        assert replica_set.primary().ask(once)["ok"]

    yield fail
    replica_set.primary().ask({**point, "mode": "off"})


def test_a_profile_is_read_again_where_the_first_try_fails(runtime: Runtime, failing: Any) -> None:
    entry: Any = {**event(START), "slot": 0}
    impression = ("x", entry)
    profiles.record(runtime.database, "ann", VisitorProfile(), [impression], "r")
    failing()

    profile = histories.read(profiles.raw_profiles(runtime.database), "ann", ["x"])

    assert set(profile.histories) == {"x"}
