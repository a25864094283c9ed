"""What others do between two steps of an operation, at a command that it is about to send."""

from collections.abc import Callable
from typing import Any

from pymongo import monitoring

from chalicelib.database import Document


class Meantime(monitoring.CommandListener):
    """Calls an action once, before the next command of a kind to a collection is sent.

    `sent` has the names of all commands.
    """

    def __init__(self) -> None:
        self.failures: list[BaseException] = []
        self.sent: list[str] = []
        self._waiting: dict[tuple[str, str], Callable[[], Any]] = {}

    def before(self, command: str, collection: str, action: Callable[[], Any]) -> None:
        """Have an action done before the next such command."""
        self._waiting[command, collection] = action

    def done(self) -> bool:
        """Tell whether every action has been done; raises what one of them raised."""
        if self.failures:
            raise self.failures[0]
        return not self._waiting

    def forget(self) -> None:
        """Drop the actions that no command has called for."""
        self._waiting.clear()

    def started(self, event: monitoring.CommandStartedEvent) -> None:
        self.sent.append(event.command_name)
        named: Document = dict(event.command)
        key = event.command_name, str(named.get(event.command_name))
        action = self._waiting.pop(key, None)
        if action is None:
            return
        try:
            action()
        # The driver would only print it.
        except BaseException as failure:  # noqa: BLE001
            self.failures.append(failure)

    def succeeded(self, event: monitoring.CommandSucceededEvent) -> None:
        """Do nothing."""

    def failed(self, event: monitoring.CommandFailedEvent) -> None:
        """Do nothing."""
