"""The server killed under load, time and again: nothing that was acknowledged is lost.

`PLAZA_TEST_KILLS=10` makes it long.
"""

import json
import os
import signal
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date, timedelta
from http.client import HTTPException
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from chalicelib.runtime import utc_now
from chalicelib.settings import Settings
from local.tokens import mint
from tests.local.stack import Stack, call, server, wait_until

pytestmark = pytest.mark.processes

KILLS = int(os.environ.get("PLAZA_TEST_KILLS", "2"))
STORES = ("embedded", "documents", "buckets")
READERS = ("bob", "cy")
BROWSER = "Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0"
# What each of those who write has done at least when the server is killed.
ACKNOWLEDGED_EACH_LIFE = 15
# No limit of rates, campaigns on credit, and fan-outs that are taken over soon.
ENVIRONMENT = {"PLAZA_LIMITS": "off", "PLAZA_PREPAYMENT": "false", "PLAZA_LEASE_MS": "1000"}


@dataclass
class Written:
    """What one of those who write has asked for, and what was acknowledged."""

    asked: list[Any] = field(default_factory=list)
    acknowledged: list[Any] = field(default_factory=list)


@dataclass
class World:
    """A server's address, tokens for it, and all that was written over its lives."""

    folder: Path
    url: str = ""
    beacons: Written = field(default_factory=Written)
    posts: Written = field(default_factory=Written)
    bids: Written = field(default_factory=Written)
    comments: dict[str, Written] = field(default_factory=lambda: {s: Written() for s in STORES})

    def token(self, user: str, *roles: str) -> str:
        secrets = json.loads((self.folder / "data" / "secrets.json").read_text())
        settings = Settings(jwt_secret=secrets["PLAZA_JWT_SECRET"])
        return mint(settings, utc_now(), user, roles=roles)

    def ask(self, method: str, path: str, user: str, body: object = None) -> Any:
        """Return the answer to a call that has to succeed."""
        roles = ("admin",) if user == "root" else ()
        status, answer = call(method, self.url + path, self.token(user, *roles), body)
        assert status < 300, (method, path, status, answer)
        return answer

    def begin(self) -> None:
        for store in STORES:
            page = {"title": store, "url": "https://site.example/page", "threaded": False}
            self.ask("PUT", f"/nodes/site:{store}", "root", page)
            self.ask("POST", f"/nodes/site:{store}/store", "root", {"store": store})
        size = {"size": {"width": 300, "height": 250}}
        self.ask("PUT", "/sites/site/zones/banner", "root", size)
        assert self.put_campaign(1_000) == 201
        self.ask("POST", "/campaigns/acme:spring/activate", "root")
        self.ask("PUT", "/users/me", "ann", {"name": "Ann"})
        for reader in READERS:
            self.ask("PUT", "/users/me/circles/read", reader, {"name": "What I read"})
            self.ask("PUT", "/users/me/circles/read/members/ann", reader)

    def put_campaign(self, bid: int) -> int:
        now = utc_now()
        flight = {"starts_at": now - timedelta(days=1), "ends_at": now + timedelta(days=30)}
        creative = {"type": "text", "headline": "Spring", "body": "It is here"}
        creative["landing_url"] = "https://acme.example/"
        campaign = {
            "flight": {name: each.isoformat() for name, each in flight.items()},
            "pricing": {"type": "cpm", "bid_micros": bid},
            "budget": {"total_micros": 10**12},
            "targets": [{"site_id": "site", "zone_id": "banner"}],
            "ad_units": [{"id": "one", "creative": creative}],
        }
        url = f"{self.url}/campaigns/acme:spring"
        return call("PUT", url, self.token("root", "admin"), campaign)[0]

    def write(self, path: str, user: str, body: object, written: Written) -> None:
        written.asked.append(body)
        status, answer = call("POST", self.url + path, self.token(user), body)
        assert status == 201, answer
        written.acknowledged.append(answer["id"])

    def beacon(self, number: int) -> None:
        """See an ad and tell so; a change that a kill cut off may leave a zone without, for now."""
        url = f"{self.url}/ads/site/banner?visitor=visitor-{number}"
        for ad in call("GET", url, agent=BROWSER)[1]["ads"]:
            self.beacons.asked.append(ad["impression_url"])
            assert call("POST", self.url + ad["impression_url"], agent=BROWSER)[0] == 204
            self.beacons.acknowledged.append(ad["impression_url"])

    def bid(self, number: int) -> None:
        self.bids.asked.append(1_000 * number)
        assert self.put_campaign(1_000 * number) in (200, 201)
        self.bids.acknowledged.append(1_000 * number)

    def post(self, number: int) -> None:
        text = {"text": f"Post {number}"}
        body = {"type": "status", "detail": text, "circles": ["*public*"]}
        self.write("/posts", "ann", body, self.posts)

    def comment_in(self, store: str) -> Callable[[int], None]:
        path = f"/nodes/site:{store}/comments"

        def comment(number: int) -> None:
            self.write(path, "bob", {"text": f"Comment {number}"}, self.comments[store])

        return comment

    def listed(self, path: str, user: str, key: str) -> list[Any]:
        """Return what all pages of a listing hold."""
        found, query = [], "?limit=200"
        while True:
            page = self.ask("GET", path + query, user)
            found += page[key]
            if page["next"] is None:
                return found
            query = f"?limit=200&cursor={page['next']}"

    def counted(self) -> int:
        """Return the impressions in the campaign's report, of two days if midnight came between."""
        today = utc_now().date()
        span = f"from={_before(today)}&to={today + timedelta(days=1)}"
        report = self.ask("GET", f"/reports/campaigns/acme:spring?{span}", "root")
        return sum(row["impressions"] for row in report["rows"])

    def all_brought(self) -> bool:
        posts = set(self.posts.acknowledged)
        return all(
            posts <= {each["id"] for each in self.listed("/users/me/news", reader, "posts")}
            for reader in READERS
        )


def _before(day: date) -> date:
    return day - timedelta(days=1)


def live(world: World, stack: Stack, end: int, numbers: "count[int]") -> None:
    """Write as five people at once, and end the server by a signal amid it all."""
    everyone = {
        "beacon": (world.beacon, world.beacons),
        "bid": (world.bid, world.bids),
        "post": (world.post, world.posts),
        **{store: (world.comment_in(store), world.comments[store]) for store in STORES},
    }
    before = {name: len(written.acknowledged) for name, (_, written) in everyone.items()}
    broken: list[str] = []

    def work(name: str, act: Callable[[int], None]) -> None:
        try:
            while True:
                act(next(numbers))
        except (OSError, HTTPException):
            return  # the server is gone
        except Exception as error:  # noqa: BLE001 - told below, in the thread that can fail
            broken.append(f"{name}: {error!r}")

    threads = [
        threading.Thread(target=work, args=(name, act)) for name, (act, _) in everyone.items()
    ]
    for thread in threads:
        thread.start()

    def each_has_written() -> bool:
        assert not broken, broken
        return all(
            len(written.acknowledged) >= before[name] + ACKNOWLEDGED_EACH_LIFE
            for name, (_, written) in everyone.items()
        )

    wait_until(each_has_written, "everybody wrote")
    if end == signal.SIGKILL:
        stack.kill_group()
    else:
        assert stack.signal(end) == 0
    for thread in threads:
        thread.join()


@pytest.mark.timeout(300 + 90 * KILLS)
def test_nothing_acknowledged_is_lost_by_kills_under_load(tmp_path: Path) -> None:
    world, numbers = World(tmp_path), count(1)
    # The last one is an ordinary stop, which may lose no more.
    for end in [signal.SIGKILL] * KILLS + [signal.SIGTERM]:
        with server(tmp_path, "--empty", **ENVIRONMENT) as stack:
            world.url = stack.wait_until_running()
            if not world.bids.acknowledged:
                world.begin()
            live(world, stack, end, numbers)

    with server(tmp_path, "--empty", **ENVIRONMENT) as stack:
        world.url = stack.wait_until_running()
        beacons = world.beacons
        wait_until(lambda: world.counted() >= len(beacons.acknowledged), "all is counted")
        # One whose answer was cut off may count too.
        assert world.counted() <= len(beacons.asked)
        wait_until(world.all_brought, "all posts are in all news")
        for store, written in world.comments.items():
            found = world.listed(f"/nodes/site:{store}/comments", "bob", "comments")
            ids = [each["id"] for each in found]
            assert len(set(ids)) == len(ids)
            assert set(written.acknowledged) <= set(ids), store
        bid = world.ask("GET", "/campaigns/acme:spring", "root")["pricing"]["bid_micros"]
        assert bid in world.bids.asked[len(world.bids.acknowledged) - 1 :]
        assert bid >= world.bids.acknowledged[-1]
    totals = {
        "beacons": len(beacons.acknowledged),
        "posts": len(world.posts.acknowledged),
        "bids": len(world.bids.acknowledged),
        **{store: len(each.acknowledged) for store, each in world.comments.items()},
    }
    print(f"{KILLS} kills, 0 lost of {totals}")  # noqa: T201 - for who runs it long
