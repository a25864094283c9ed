"""Every message that SQS does not take: the call succeeds, and the effect comes once, later."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from chalice.app import Chalice
from pydantic import SecretStr

from chalicelib.messaging import Message
from chalicelib.runtime import Runtime
from chalicelib.settings import Settings
from tests.comments.support.akismet_stand_in import KEY, AkismetStandIn, running
from tests.lost_messages.scenarios import DONE_AT_ONCE, SCENARIOS
from tests.lost_messages.world import World
from tests.push.support.keys import KEYS
from tests.recorded_messages.corpus import message_types
from tests.support.clock import Clock
from tests.support.http_client import Client
from tests.support.workers import Workers

KINDS = message_types()


@pytest.fixture
def akismet() -> Iterator[AkismetStandIn]:
    with running() as stand_in:
        yield stand_in


@pytest.fixture
def settings(settings: Settings, akismet: AkismetStandIn, tmp_path: Path) -> Settings:
    """Posts become actions, of which a team is told; comments are checked; letters are files."""
    return settings.model_copy(
        update={
            "action_sites": ("default",),
            "action_scope": "team",
            "social_notifications": True,
            "akismet_key": SecretStr(KEY),
            "akismet_url": akismet.url,
            "mail_from": "",
            **KEYS,
            "mail_folder": str(tmp_path),
        }
    )


@pytest.fixture
def world(  # noqa: PLR0913, PLR0917 - all of Plaza's parts
    app: Chalice,
    client: Client,
    workers: Workers,
    runtime: Runtime,
    clock: Clock,
    akismet: AkismetStandIn,
    monkeypatch: pytest.MonkeyPatch,
) -> World:
    return World(app, client, workers, runtime, clock, akismet, monkeypatch)


# One reader is a chunk, no node is small enough to be moved at once, and two news are kept.
@pytest.mark.bounds(
    comments={"inline_move_comments": -1}, social={"chunk_readers": 1, "news_kept": 2}
)
@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())
def test_a_message_that_is_not_taken_costs_no_call_and_no_effect(
    world: World, kind: type[Message]
) -> None:
    assert kind in SCENARIOS, "say in tests/lost_messages/scenarios.py what becomes of it"
    read, expected = SCENARIOS[kind](world)
    assert kind in {type(each) for each in world.unsent}
    assert (read() == expected) is (kind in DONE_AT_ONCE)

    world.recover()
    assert read() == expected

    world.recover()
    assert read() == expected
