"""Moving all addresses with a prefix: all or none, with readers and a crash in between."""

import signal
import subprocess
import sys
import threading
from datetime import timedelta

import pytest

from chalicelib.content.publishing.addresses import ADDRESSES
from chalicelib.runtime import Runtime
from tests.content.support.factories import (
    SITE,
    editor,
    listed,
    node,
    publish,
    published,
    publisher,
    read,
    save,
    write,
)
from tests.support.clock import Clock
from tests.support.http_client import Client, Reply

PAGES = 12


def move(client: Client, before: str, after: str) -> Reply:
    return publisher(client).post(f"/content/{SITE}/move", **{"from": before, "to": after})


def test_all_pages_below_a_prefix_are_moved_with_their_drafts(site: Client) -> None:
    deep, other = published(site, "old/a/b"), published(site, "older/c")
    changed = published(site, "old/d")
    save(editor(site), changed, 1, slug="elsewhere")
    draft = write(editor(site), "old/draft")

    assert move(site, "old/", "new/").json == {"moved": 3}

    assert read(site, "old/a/b").json["facts"] == {"address": "new/a/b"}
    assert read(site, "new/a/b").json["id"] == deep
    assert read(site, "older/c").json["id"] == other
    assert read(site, "new/d").json["id"] == changed
    slugs = {
        each: editor(site).get(node(each)).json["draft"]["slug"] for each in (changed, draft, deep)
    }
    assert slugs == {changed: "elsewhere", draft: "new/draft", deep: "new/a/b"}
    assert sorted(listed(site)) == ["new/a/b", "new/d", "older/c"]
    assert editor(site).get(node(deep)).json["version"] == 1
    assert publish(site, draft).status == 200


def test_pages_that_move_back_have_their_addresses_again(site: Client) -> None:
    published(site, "old/a")
    move(site, "old/", "new/")

    assert move(site, "new/", "old/").json == {"moved": 1}
    assert read(site, "old/a").status == 200
    assert read(site, "new/a").json["facts"] == {"address": "old/a"}
    assert move(site, "none/", "old/").json == {"moved": 0}


def test_a_move_that_meets_another_page_moves_nothing(site: Client) -> None:
    published(site, "old/a")
    published(site, "old/b")
    there = published(site, "new/b")

    refused = move(site, "old/", "new/")

    assert refused.json["facts"] == {"address": "new/b", "id": there, "is_current": True}
    assert sorted(listed(site)) == ["new/b", "old/a", "old/b"]
    assert read(site, "new/a").code == "unknown_content"


def test_a_page_moves_to_the_address_of_its_coming_edition(site: Client, clock: Clock) -> None:
    edda, tomorrow = editor(site), clock() + timedelta(days=1)
    page = published(site, "old/a")
    save(edda, page, 1, slug="new/a")
    assert publish(site, page, 2, at=tomorrow.isoformat()).status == 200

    assert move(site, "old/", "new/").json == {"moved": 1}

    assert read(site, "new/a").json["id"] == page
    assert read(site, "old/a").json["facts"] == {"address": "new/a"}
    clock.time = tomorrow
    assert read(site, "new/a").json["id"] == page


def test_a_move_gives_back_an_old_address_that_a_planned_page_would_take(
    site: Client, clock: Clock
) -> None:
    edda, tomorrow = editor(site), clock() + timedelta(days=1)
    first = published(site, "old/moon")
    save(edda, first, 1, slug="moon")
    publish(site, first, 2)
    second = write(edda, "old/moon")
    assert publish(site, second, at=tomorrow.isoformat(), take=True).status == 200

    assert move(site, "old/", "new/").json == {"moved": 1}

    for _ in range(2):
        assert read(site, "old/moon").json["facts"] == {"address": "moon"}
        clock.time = tomorrow
    assert read(site, "new/moon").json["id"] == second


def test_a_page_moves_below_its_own_prefix_where_its_coming_edition_is(
    site: Client, clock: Clock
) -> None:
    edda, tomorrow = editor(site), clock() + timedelta(days=1)
    page = published(site, "news/a")
    save(edda, page, 1, slug="news/2026/a")
    assert publish(site, page, 2, at=tomorrow.isoformat()).status == 200

    assert move(site, "news/", "news/2026/").json == {"moved": 1}

    assert read(site, "news/2026/a").json["id"] == page
    other = write(edda, "news/2026/a", title="Another")
    assert publish(site, other).code == "address_taken"
    clock.time = tomorrow
    assert read(site, "news/2026/2026/a").json["id"] == page


@pytest.mark.bounds(content={"moved_at_once": 2})
def test_more_pages_than_one_call_moves_are_left(site: Client) -> None:
    for slug in ("old/a", "old/b", "old/c"):
        published(site, slug)

    assert move(site, "old/", "new/").code == "too_many_to_move"
    assert sorted(listed(site)) == ["old/a", "old/b", "old/c"]


def test_an_address_that_would_be_too_long_is_refused(site: Client) -> None:
    published(site, "a/" + "b" * 200, title="Long")

    assert move(site, "a/", "c" * 100 + "/").code == "invalid_request"
    assert move(site, "a/", "a/").code == "invalid_request"
    for prefix in ("a", "/", "", "../", "A/"):
        assert move(site, prefix, "b/").code == "invalid_request"


def test_readers_find_every_page_while_it_moves(site: Client) -> None:
    for number in range(PAGES):
        published(site, f"old/{number}")
    lost: list[tuple[str, int]] = []
    is_over = threading.Event()

    def reads() -> None:
        while not is_over.is_set():
            for number in range(PAGES):
                reply = read(site, f"old/{number}")
                if reply.status == 308:
                    reply = read(site, reply.json["facts"]["address"])
                # It may have moved back in between, and then it leads there.
                if reply.status not in {200, 308}:
                    lost.append((f"old/{number}", reply.status))

    readers = [threading.Thread(target=reads) for _ in range(2)]
    for reader in readers:
        reader.start()
    moved = [move(site, *pair).json for pair in (("old/", "new/"), ("new/", "old/")) * 3]
    is_over.set()
    for reader in readers:
        reader.join(60)

    assert moved == [{"moved": PAGES}] * 6
    assert lost == []


# Ends its own process when it has sent a number of commands within the move's transaction.
KILLED = """
import os, random, signal, sys
from pymongo import MongoClient, monitoring
from chalicelib.content.publishing import moving
from chalicelib.content.publishing.forms import AddressMove
from chalicelib.database import open_database
from chalicelib.messaging import Queues
from chalicelib.runtime import Runtime, utc_now
from chalicelib.settings import Settings

uri, name, site, left = sys.argv[1:]

class Kill(monitoring.CommandListener):
    left = int(left)

    def started(self, event):
        if "autocommit" in event.command:
            Kill.left -= 1
            if Kill.left < 0:
                os.kill(os.getpid(), signal.SIGKILL)

    def succeeded(self, event): ...
    def failed(self, event): ...

database = open_database(MongoClient(uri, event_listeners=[Kill()]), name)
runtime = Runtime(database, Queues(""), utc_now, random.Random(1), Settings())
moving.move(runtime, site, AddressMove.model_validate({"from": "old/", "to": "new/"}))
"""


@pytest.mark.processes
@pytest.mark.parametrize("after", [3, 6])
def test_a_process_that_is_killed_in_a_move_has_moved_nothing(
    site: Client, runtime: Runtime, mongodb_uri: str, after: int
) -> None:
    for slug in ("old/a", "old/b"):
        published(site, slug)
    arguments = [mongodb_uri, runtime.settings.database, SITE, str(after)]

    ended = subprocess.run([sys.executable, "-c", KILLED, *arguments], timeout=60, check=False)

    assert ended.returncode == -signal.SIGKILL
    assert sorted(listed(site)) == ["old/a", "old/b"]
    ids = {each["_id"] for each in runtime.database["content.node"].find()}
    assert {each["node"] for each in ADDRESSES.of(runtime.database).find()} <= ids
    # The server ends what the process left when it loses the connection.
    assert move(site, "old/", "new/").json == {"moved": 2}
