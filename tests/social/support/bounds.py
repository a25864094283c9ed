"""Small bounds, so that few readers make several chunks."""

import dataclasses

import pytest

from chalicelib.runtime import Runtime

CHUNKS_OF_TWO = pytest.mark.bounds(
    social={"chunk_readers": 2, "chunks_at_once": 2, "halved_from": 2}
)


def bounded(runtime: Runtime, **values: int) -> Runtime:
    """Return a runtime with some bounds of the social feed changed."""
    social = dataclasses.replace(runtime.bounds.social, **values)
    return dataclasses.replace(runtime, bounds=dataclasses.replace(runtime.bounds, social=social))
