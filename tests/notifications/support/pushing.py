"""A reader's browsers, and the push service of this machine that they are at."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from chalicelib.notifications import push_rows, pushes, subscriptions
from chalicelib.notifications.inbox import Show
from chalicelib.notifications.push_rows import SUBSCRIPTIONS
from chalicelib.runtime import Runtime
from tests.notifications.support.mailbox import show
from tests.push.support.browser import BrowserStandIn
from tests.support.clock import Clock
from tests.webhooks.support.receiver import Receiver


@dataclass(frozen=True)
class Desk:
    """A deployment with keys, a push service, and the worker driven by hand."""

    runtime: Runtime
    clock: Clock
    service: Receiver

    def browser(self, number: int = 1) -> BrowserStandIn:
        return BrowserStandIn(f"{self.service.url}&browser={number}", number)

    def subscribe(self, who: str = "ann", number: int = 1, **fields: Any) -> BrowserStandIn:
        """Register a browser a second before all else."""
        made = self.browser(number)
        given = {"language": "en", "time_zone": "UTC", **fields}
        subscriptions.register(self.runtime, who, made.browser, **given)
        self.clock.advance(seconds=1)
        return made

    def run(self, here: Runtime | None = None, show_to: Show = show) -> None:
        """Run the worker of each browser, whether it is due or not."""
        for row in self.rows():
            pushes.run(here or self.runtime, show_to, row["_id"])

    def pass_by(self, **time: Any) -> None:
        """Let time pass, and run what is due then."""
        self.clock.advance(**time)
        self.run()

    def rows(self) -> list[dict[str, Any]]:
        return [dict(each) for each in SUBSCRIPTIONS.of(self.runtime.database).find().sort("made")]

    def came(self) -> list[tuple[int, Mapping[str, Any]]]:
        """Return what browsers have read: their numbers, and the messages."""
        found = []
        for call in self.service.calls:
            number = int(call.path.rpartition("=")[2])
            found.append((number, orjson.loads(self.browser(number).decrypt(call.body))))
        return found

    def bodies(self) -> list[str]:
        return [said["body"] for _, said in self.came()]


AFTER_SECONDS = push_rows.AFTER.total_seconds()
