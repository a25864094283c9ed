"""Everything that people can vote on or react to, in one list, with its worker and commands."""

from typing import Any

from chalice.app import Chalice

from chalicelib.comments.entries import kind as comments
from chalicelib.marks import jobs, placing, verification
from chalicelib.marks.personal_data import PersonalData
from chalicelib.marks.shapes import Kind, Kinds
from chalicelib.runtime import Runtime
from chalicelib.social.posts import reactions

_ALL: tuple[Kind, ...] = (reactions.KIND, comments.KIND)
KINDS: Kinds = {kind.name: kind for kind in _ALL}
marks = PersonalData(KINDS)


def declare(app: Chalice, runtime: Runtime) -> None:
    """Declare the worker and the schedule of marks."""
    jobs.declare_worker(app, runtime, KINDS)
    jobs.declare_schedule(app, runtime)


def verify(runtime: Runtime, kind: str, after: str = "", most: int = 1_000) -> dict[str, Any]:
    """Recount some things of a kind; return how many are counted wrongly, and name some of them.

    `next` of the answer is the `after` of the next call, or None at the end. Raises ValueError for
    a kind that there is not.
    """
    return verification.verify(runtime.database, _kind(kind), after, most)._asdict()


def choose(runtime: Runtime, kind: str, thing_id: str, design: str) -> dict[str, bool]:
    """Have the marks of a thing counted by batch (`folded`), or at once (`direct`).

    Returns whether there is the thing. Raises ValueError for a kind or a design that there is not.
    """
    if design not in ("direct", "folded"):
        raise ValueError("design has to be direct or folded")
    is_folded = design == "folded"
    return {"found": placing.choose(runtime, _kind(kind), thing_id, is_folded=is_folded)}


def _kind(name: str) -> Kind:
    if name not in KINDS:
        raise ValueError(f"there are these kinds: {', '.join(KINDS)}")
    return KINDS[name]
