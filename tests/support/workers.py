"""The workers of every queue, driven by hand."""

from collections.abc import Callable

from local.queues import Poller


class Workers:
    """The pollers of every queue, driven by hand."""

    def __init__(self, pollers: list[Poller], has_messages: Callable[[Poller], bool]) -> None:
        self.pollers = pollers
        self._has_messages = has_messages

    def drain(self) -> int:
        """Deliver batches until every queue is empty; return how many messages there were."""
        delivered = 0
        while received := sum(
            poller.poll_once() for poller in self.pollers if self._has_messages(poller)
        ):
            delivered += received
        return delivered
