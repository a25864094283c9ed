"""The kinds of things that people can vote on or react to, with their commands."""

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
    """Recount some things of a kind; return the number of wrong counts and some ids.

    `next` of the answer is the `after` of the next call; None: the end. Raises ValueError for an
    unknown kind.
    """
    return verification.verify(runtime.database, _kind(kind), after, most)._asdict()


def choose(runtime: Runtime, kind: str, thing_id: str, design: str) -> dict[str, bool]:
    """Count the marks of a thing by batch (`folded`) or at once (`direct`) from now on.

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
