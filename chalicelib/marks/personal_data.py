"""Erasure and export of a person's marks; the erasure also subtracts them from the counts."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pymongo.database import Database

from chalicelib.database import Document
from chalicelib.marks import removal
from chalicelib.marks.shapes import MARKS, Kinds, Mark, thing_of
from chalicelib.people.features import ExportEntry, Step, Trace, entry
from chalicelib.runtime import Runtime


@dataclass(frozen=True)
class PersonalData:
    """A person's marks on these kinds of things."""

    kinds: Kinds

    def rename(self, runtime: Runtime, user_id: str, name: str) -> None:
        """Change nothing: a mark has no name."""

    def erase(self, runtime: Runtime, user_id: str, until: datetime | None = None) -> Step:
        """Delete a person's marks and subtract their counts; `until`: only marks placed by then."""
        remain = removal.take_back(runtime, self.kinds, user_id, until)
        return Step.MORE if remain else Step.DONE

    def traces(self, database: Database[Document], user_id: str) -> list[Trace]:
        """Return the place of a person's marks."""
        return [Trace("marks", MARKS.of(database), {"user_id": user_id}, _to_entries)]


def _to_entries(mark: Mark) -> list[ExportEntry]:
    kind, thing_id = thing_of(mark["_id"])
    said: dict[str, Any] = {"vote": mark["vote"], "reactions": mark["reactions"]}
    if flag := mark.get("flag"):
        said["flag"] = {"reason": flag["reason"], "note": flag["note"], "flagged_at": flag["at"]}
    return [entry("mark", on=kind, id=thing_id, **said, marked_at=mark["at"])]
