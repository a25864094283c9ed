"""The kinds of things with marks (votes and reactions), and the commands for their counts."""

from typing import Any

from chalicelib.comments.entries import kind as comments
from chalicelib.marks import placing, verification
from chalicelib.marks.personal_data import PersonalData
from chalicelib.marks.shapes import Kind, Kinds
from chalicelib.runtime import Runtime
from chalicelib.social.posts import reactions

_ALL: tuple[Kind, ...] = (reactions.KIND, comments.KIND)
KINDS: Kinds = {kind.name: kind for kind in _ALL}
marks = PersonalData(KINDS)


def verify(runtime: Runtime, kind: str, after: str = "", most: int = 1_000) -> dict[str, Any]:
    """Recount the marks of up to `most` things; return the number of wrong counts, and some ids.

    `next` of the answer is the `after` of the next call; None: the end. Raises ValueError for an
    unknown kind.
    """
    return verification.verify(runtime.database, _kind(kind), after, most)._asdict()


def choose(runtime: Runtime, kind: str, thing_id: str, design: str) -> dict[str, bool]:
    """Choose the design that counts a thing's marks: in batches (`folded`) or at once (`direct`).

    Returns whether the thing exists. Raises ValueError for an unknown kind or design.
    """
    if design not in ("direct", "folded"):
        raise ValueError("design has to be direct or folded")
    is_folded = design == "folded"
    return {"found": placing.choose(runtime, _kind(kind), thing_id, is_folded=is_folded)}


def _kind(name: str) -> Kind:
    if name not in KINDS:
        raise ValueError(f"there are these kinds: {', '.join(KINDS)}")
    return KINDS[name]
