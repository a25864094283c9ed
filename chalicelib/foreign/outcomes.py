"""The report of an import: counts by outcome and by reason, and places in the file."""

from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

MAX_PLACES = 200
_MAX_PLACE_CHARACTERS = 200


class ReportedPlace(NamedTuple):
    """The place of a part that the import changed or left out, and the reason; never its text."""

    reason: str
    where: str


@dataclass
class ImportReport:
    """Counts of a file's parts by outcome, and by the reason of a change or an omission.

    places: the first `MAX_PLACES` changes and omissions.
    """

    counts: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    places: list[ReportedPlace] = field(default_factory=list)

    def note(self, reason: str, where: str) -> None:
        """Count a changed or omitted part by its reason, a stable code, and store its place."""
        self.reasons[reason] += 1
        if len(self.places) < MAX_PLACES:
            self.places.append(ReportedPlace(reason, where[:_MAX_PLACE_CHARACTERS]))

    def leave(self, reason: str, where: str) -> None:
        """Count a part as omitted, and note its reason and place."""
        self.counts["left"] += 1
        self.note(reason, where)
