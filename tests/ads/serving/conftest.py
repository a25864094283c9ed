"""A runtime whose reads are watched."""

import dataclasses
from collections.abc import Callable, Iterator

import pytest
from pymongo import MongoClient

from chalicelib.ads.serving.cache import ZoneCache
from chalicelib.ads.serving.decisions import AdRequest, decide
from chalicelib.database import Document, open_database
from chalicelib.runtime import Runtime
from tests.ads.serving.support.reads import Reads


@pytest.fixture
def reads(runtime: Runtime, mongodb_uri: str) -> Iterator[tuple[Reads, Runtime]]:
    """A runtime whose every command is listed."""
    listener = Reads()
    with MongoClient[Document](mongodb_uri, event_listeners=[listener]) as client:
        database = open_database(client, runtime.settings.database)
        database.command("ping")
        listener.take()
        yield listener, dataclasses.replace(runtime, database=database)


@pytest.fixture
def served(runtime: Runtime) -> Callable[[ZoneCache], list[str]]:
    def serve(memory: ZoneCache) -> list[str]:
        decision = decide(runtime, memory, AdRequest("blog", "banner"))
        return [each.ad.campaign_id for each in decision.placements]

    return serve
