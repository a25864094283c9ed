"""Every rewrite of stored documents, by its name for the command `rewrite_documents`.

A rewrite leaves the list when no deployment can have documents that need it.
"""

from typing import Any

from chalicelib.database import rewriting
from chalicelib.database.rewriting import DocumentRewrite, Limits
from chalicelib.runtime import Runtime
from chalicelib.shop.catalogue import writing
from chalicelib.social.activity.actions import reactions

REWRITES: dict[str, DocumentRewrite] = {
    # Releases before 0.3.0 did not count reactions to actions by kind.
    "reactions_by_kind": reactions.BY_KIND,
    # Releases before 0.3.0 found products only by words with their accents.
    "search_tokens": writing.SEARCH_TOKENS,
}
# A run of the command may take 15 minutes; this leaves a minute for its last part.
MOST_SECONDS = 840


def run(runtime: Runtime, name: str, seconds: int = 600) -> dict[str, Any]:
    """Run a rewrite for some seconds, from its last position; return its progress.

    Raises ValueError for an unknown name, and for more seconds than MOST_SECONDS.
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
