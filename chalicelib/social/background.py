"""What the worker of the errands does with each of them."""

from chalicelib.runtime import Runtime
from chalicelib.social import erasure, errands, renaming, repair
from chalicelib.social.activity import cascades, naming, ranking, refill
from chalicelib.social.messages import (
    BackFill,
    Cascade,
    Erase,
    Errand,
    Rank,
    Rebuild,
    Refill,
    Rename,
    RenameRef,
    Trim,
)


def handle(runtime: Runtime, errand: Errand) -> None:
    """Do an errand if it is still noted; a failure leaves it for the sweep."""
    errands.run(runtime, errand, _do)


def _do(runtime: Runtime, errand: Errand) -> None:
    match errand:
        case BackFill():
            repair.back_fill(runtime, errand.reader_id, errand.author_id)
        case Rename():
            renaming.rename(runtime, errand.user_id)
        case Rebuild():
            repair.rebuild(runtime, errand.user_id)
        case Trim():
            repair.trim(runtime, errand.user_id)
        case Erase():
            erasure.erase(runtime, errand.user_id)
        case Refill():
            refill.refill(runtime, errand.user_id)
        case RenameRef():
            naming.rename_ref(runtime, errand.ref_id)
        case Rank():
            ranking.rank(runtime, errand.action_id, errand.event_id, errand.after)
        case Cascade():
            cascades.cascade(runtime, errand.action_id)
