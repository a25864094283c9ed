"""What the tests of beacons share."""

from typing import Any

from chalicelib.ads.visitors import profiles
from chalicelib.messaging import Queues
from chalicelib.runtime import Runtime


class Refusing(Queues):
    """Queues that SQS cannot be reached for."""

    def __init__(self) -> None:
        super().__init__("plaza-test-")

    def send(self, *messages: Any) -> bool:
        assert messages
        return False


def profile(runtime: Runtime, visitor: str) -> Any:
    return runtime.database[profiles.PROFILES.name].find_one({"_id": visitor})
