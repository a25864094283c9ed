"""The check of the shard keys as pytest has it: test by test, and once over a whole run."""

from collections.abc import Iterator
from typing import Any

import pytest
from pymongo import monitoring

from tests.support.runs import ENDED, is_whole
from tests.support.shard_listener import ShardListener


class ShardCheck:
    """Fails a test that asks what no router could target, and a run that needs no exception.

    Under pytest-xdist each worker tells the controller which exceptions it needed.
    """

    def __init__(self, listener: ShardListener) -> None:
        self._listener = listener
        self._unused: list[str] = []
        monitoring.register(listener)

    @pytest.fixture(autouse=True)
    def _operations_are_targeted(self) -> Iterator[None]:
        """Fail the test whose operation, or whose module's, no router could target."""
        yield
        found = self._listener.take()
        assert not found, (
            "add to tests/support/shard_exceptions.py, or say which shard: " + "; ".join(found)
        )

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take over what a worker that is done has heard."""
        self._listener.used.update(getattr(node, "workeroutput", {}).get("used_exceptions", ()))

    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Fail a whole run in which an exception of the shard keys was of no use."""
        if hasattr(session.config, "workeroutput"):
            session.config.workeroutput["used_exceptions"] = sorted(self._listener.used)
        elif is_whole(session.config) and exitstatus in ENDED:
            self._unused = self._listener.unused()
            if self._unused:
                session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        for name in self._unused:
            terminalreporter.write_line(
                f"unused in tests/support/shard_exceptions.py: {name}", red=True
            )
