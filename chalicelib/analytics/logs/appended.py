"""What logs share that cannot be written to in a transaction: receipts say what was counted."""

from collections.abc import Sequence
from datetime import datetime

from pymongo import WriteConcern
from pymongo.client_session import ClientSession

from chalicelib.analytics.hits import StoredHit


class AppendedLog:
    """A log that is appended to before the transaction which counts its hits."""

    is_transactional = False

    def prepare(self, days: Sequence[datetime]) -> None:
        """Nothing is made for a day."""

    def needs_receipt(self, hit: StoredHit) -> bool:  # noqa: ARG002 - all of them do
        """Return True: no row is written in a transaction."""
        return True

    def known(self, session: ClientSession | None, hits: Sequence[StoredHit]) -> set[str]:  # noqa: ARG002 - receipts decide
        """Return nothing: receipts decide."""
        return set()

    def admit(self, session: ClientSession, hits: Sequence[StoredHit]) -> None:
        """Nothing is written in a transaction."""


def concern_of(concern: str) -> WriteConcern:
    """Return the write concern of PLAZA_HIT_LOG_CONCERN."""
    return WriteConcern(1 if concern == "1" else "majority")
