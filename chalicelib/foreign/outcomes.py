"""The report of an import: numbers by outcome and by reason, and places in the file."""

from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

MAX_PLACES = 200
_MAX_PLACE_CHARACTERS = 200


class ReportedPlace(NamedTuple):
    """A part of the file that did not come over as it was: where it is, without its text."""

    reason: str
    where: str


@dataclass
class ImportReport:
    """Numbers of parts of a file by their outcome, and by the reasons of changes and of gaps."""

    counts: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    places: list[ReportedPlace] = field(default_factory=list)

    def note(self, reason: str, where: str) -> None:
        """Note that a part did not come over as it was, for a reason with a stable code."""
        self.reasons[reason] += 1
        if len(self.places) < MAX_PLACES:
            self.places.append(ReportedPlace(reason, where[:_MAX_PLACE_CHARACTERS]))

    def leave(self, reason: str, where: str) -> None:
        """Note that a part did not come over at all."""
        self.counts["left"] += 1
        self.note(reason, where)
