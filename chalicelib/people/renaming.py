"""Propagating a person's new name to every copy, in all features.

A worker stops if the name is changed again. What it, or a request that had read the old name,
still writes afterwards is found by the second pass that `outbox.run` gives every renaming.
"""

from chalicelib.people.follows import People
from chalicelib.runtime import Runtime


def rename(runtime: Runtime, people: People, user_id: str) -> None:
    """Make every copy of a person's name the one that the person has now."""
    name = people.name_of(runtime.database, user_id)
    if name is None:
        return
    for feature in people.features:
        feature.rename(runtime, user_id, name)
