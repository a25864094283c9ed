"""The check of the contract as pytest has it: answer by answer, and once over a whole run."""

from typing import Any

import pytest

from tests.support.contract import Contract
from tests.support.runs import ENDED, is_whole

# Problems that every operation declares: a test provokes each at one operation alone.
_OF_ANY_OPERATION = frozenset({"500 internal", "503 unavailable"})


class ContractCheck:
    """Fails a whole run in which something that the document declares was never seen.

    Under pytest-xdist each worker tells the controller what it saw.
    """

    def __init__(self, contract: Contract) -> None:
        self._contract = contract
        self._unseen: list[str] = []

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take over what a worker that is done has seen."""
        self._contract.seen.update(getattr(node, "workeroutput", {}).get("seen_answers", ()))

    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Note the declared answers that a whole run never saw, whether it passes or fails."""
        if hasattr(session.config, "workeroutput"):
            session.config.workeroutput["seen_answers"] = sorted(self._contract.seen)
        elif is_whole(session.config) and exitstatus in ENDED:
            declared = self._contract.declared() - self._contract.seen
            self._unseen = sorted(
                each for each in declared if each.partition(" ")[2] not in _OF_ANY_OPERATION
            )
            if self._unseen:
                session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the declared answers that the run never saw."""
        for each in self._unseen:
            told = f"declared by the API's document and never answered in this run: {each}"
            terminalreporter.write_line(told, red=True)
