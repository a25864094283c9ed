"""What a container reads of the database."""

from pymongo.monitoring import (
    CommandFailedEvent,
    CommandListener,
    CommandStartedEvent,
    CommandSucceededEvent,
)

from chalicelib.runtime import Runtime
from tests.ads.support.factories import (
    activate,
    add_zones,
    put_campaign,
)

SPRING = "mercedes:spring"


class Reads(CommandListener):
    """The commands that a client sends, as `command collection`."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def started(self, event: CommandStartedEvent) -> None:
        self.seen.append(f"{event.command_name} {event.command.get(event.command_name)}")

    def succeeded(self, _event: CommandSucceededEvent) -> None:
        pass

    def failed(self, _event: CommandFailedEvent) -> None:
        pass

    def take(self) -> list[str]:
        taken, self.seen = self.seen, []
        return taken


def add_active(runtime: Runtime) -> None:
    add_zones(runtime, "blog/banner")
    put_campaign(runtime, SPRING)
    activate(runtime, SPRING)
