"""Every rewrite of stored documents, by the name that the command `rewrite_documents` takes.

A rewrite is taken off the list when no deployment can have documents that need it.
"""

from typing import Any

from chalicelib.database import rewriting
from chalicelib.database.rewriting import Limits, Rewrite
from chalicelib.runtime import Runtime
from chalicelib.shop.catalogue import writing
from chalicelib.social.activity.actions import reactions

REWRITES: dict[str, Rewrite] = {
    # Before 0.3.0, reactions to actions were not counted by kind.
    "reactions_by_kind": reactions.BY_KIND,
    # Before 0.3.0, products were found by words with their accents alone.
    "search_tokens": writing.SEARCH_TOKENS,
}
# A run of the command may take 15 minutes; one part more fits into the last of them.
MOST_SECONDS = 840


def run(runtime: Runtime, name: str, seconds: int = 600) -> dict[str, Any]:
    """Run a rewrite for some seconds, from where it stopped; return its progress.

    Raises ValueError for a name that there is not, and for more seconds than a run may take.
    """
    if name not in REWRITES:
        raise ValueError(f"there are these rewrites: {', '.join(REWRITES)}")
    if not 1 <= seconds <= MOST_SECONDS:
        raise ValueError(f"seconds has to be from 1 to {MOST_SECONDS}")
    limits = Limits.of(runtime.now, seconds)
    progress = rewriting.run(runtime.database, name, REWRITES[name], limits)
    return {
        "rewrite": name,
        "is_done": progress["ended"] is not None,
        "examined": progress["examined"],
        "changed": progress["changed"],
        "refused": progress["refused"],
        "refused_ids": [str(id_) for id_ in progress["refused_ids"]],
    }
