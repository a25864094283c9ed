"""Load test: a mixed day against a server of its own, and a search for lost writes.

Seven of ten tasks read a page of comments, two see an ad and tell so, eight in a hundred read
news, two write: a comment or a post. Afterwards every comment that was acknowledged has to be
listed, every impression counted once, every post in the news of all who follow its author.

Each user waits for an answer before the next task, so that a slow server is asked less: the times
are those of a server that is busy all the time, and no promise for a rate that does not wait.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import date, timedelta
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from bench.calls import Caller, HttpCalls
from bench.discussions import seed_node
from bench.inventory import SITE, add_zone
from bench.stage import Stage, fresh_stage
from bench.tables import table
from chalicelib.ads.visitors import visitor_ids
from chalicelib.identity import Principal
from chalicelib.runtime import Runtime
from chalicelib.social.graph import circles, memberships, users
from local.environments import environment
from local.tokens import mint

ROOT = Path(__file__).resolve().parents[1]
REQUIREMENTS, ENVIRONMENT = ROOT / "requirements-load.txt", ROOT / ".venv-load"
NODES = tuple(f"{SITE}:page-{number}" for number in range(20))
ZONES = {"small": 10, "large": 1_000}
AUTHORS = tuple(f"author-{number}" for number in range(10))
VISITORS = 2_000
READERS = tuple(f"reader-{number}" for number in range(20))
COMMENTS_EACH = 200
DRAIN_SECONDS = 300


# Returns a caller for a person, by name and claims.
CallsAs = Callable[..., Caller]


class Check(NamedTuple):
    """What was acknowledged, and how much of it is there."""

    what: str
    acknowledged: int
    found: int
    is_whole: bool


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the day and the checks; exits with 1 where anything was lost."""
    parser = argparse.ArgumentParser(prog="script/load-test", description=__doc__)
    parser.add_argument("--seconds", type=int, default=60, help="default: %(default)s")
    parser.add_argument("--users", type=int, default=16, help="at once; default: %(default)s")
    given = parser.parse_args(arguments)
    locust = environment(ENVIRONMENT, REQUIREMENTS) / "locust"
    with (
        tempfile.TemporaryDirectory(prefix="plaza-load-") as name,
        fresh_stage(Path(name)) as stage,
    ):
        seed(stage.runtime)
        with stage.server() as url:
            found = _day(stage, locust, url, given.seconds, given.users)
            print(_calls_table(found), end="\n\n")
            checks = check(
                partial(HttpCalls, url, stage.runtime), found, stage.runtime.now().date()
            )
    rows = [
        (each.what, str(each.acknowledged), str(each.found), "" if each.is_whole else "**lost**")
        for each in checks
    ]
    print(table(("after the queues were drained", "acknowledged", "found", ""), rows))
    if not all(each.is_whole for each in checks):
        sys.exit(1)


def seed(runtime: Runtime) -> None:
    """Make the pages, the ads and the people of the day; every reader follows every author."""
    for node in NODES:
        seed_node(runtime, node, COMMENTS_EACH, store="documents", threaded=True)
    for zone, ads in ZONES.items():
        add_zone(runtime, zone, ads)
    for person in (*AUTHORS, *READERS):
        users.ensure(runtime, Principal(person, person.title()))
    for reader in READERS:
        circles.put(runtime, reader, "read", "Read")
        for author in AUTHORS:
            memberships.add_member(runtime, reader, "read", author)


def _day(stage: Stage, locust: Path, url: str, seconds: int, users_at_once: int) -> dict[str, Any]:
    """Let locust run the day; return its record."""
    runtime, result = stage.runtime, stage.folder / "result.json"
    keys = runtime.settings.signing_keys
    people = {name: mint(runtime.settings, runtime.now(), name) for name in (*AUTHORS, *READERS)}
    plan = {
        "nodes": NODES,
        "site": SITE,
        "zones": list(ZONES),
        "visitors": [visitor_ids.sign(f"visitor-{n}", keys) for n in range(VISITORS)],
        "authors": {name: people[name] for name in AUTHORS},
        "readers": {name: people[name] for name in READERS},
        "result": str(result),
    }
    plan_file = stage.folder / "plan.json"
    plan_file.write_text(json.dumps(plan))
    command = [str(locust), "--locustfile", str(ROOT / "bench" / "locustfile.py"), "--headless"]
    command += ["--users", str(users_at_once), "--spawn-rate", str(users_at_once), "--host", url]
    command += ["--run-time", f"{seconds}s", "--stop-timeout", "30", "--only-summary"]
    command += ["--loglevel", "ERROR", "--exit-code-on-error", "0"]
    print(f"{users_at_once} users for {seconds} s against {url} ...", flush=True)
    environment = {**os.environ, "PLAZA_LOAD_PLAN": str(plan_file)}
    log = stage.folder / "locust.log"
    with log.open("wb") as out:
        done = subprocess.run(  # noqa: S603 - the locust of `environment`
            command, env=environment, check=False, stdout=out, stderr=out
        )
    if done.returncode:
        sys.exit(f"locust failed:\n{log.read_text()}")
    found: dict[str, Any] = json.loads(result.read_text())
    return found


def _calls_table(found: dict[str, Any]) -> str:
    rows = [
        (
            each["name"],
            str(each["requests"]),
            f"{each['per_second']:.1f}",
            f"{each['p50_ms']:.0f}",
            f"{each['p99_ms']:.0f}",
            str(each["failures"]),
        )
        for each in [*found["calls"], {**found["total"], "name": "together"}]
    ]
    return table(("call", "requests", "a second", "p50 ms", "p99 ms", "errors"), rows)


def check(calls_as: CallsAs, found: dict[str, Any], today: date) -> list[Check]:
    """Return how much of what was acknowledged is found, once the queues are drained."""
    auditor = calls_as("auditor", roles=["admin"])
    there = _listed(calls_as("passer-by"), found["comments"])
    written = len(found["comments"])
    seen, failed = found["beacons"]["acknowledged"], found["beacons"]["failed"]
    counted = _settled(lambda: _impressions(auditor, today), seen)
    # One whose answer was lost may have been counted, and one that was not sent was not.
    exactly = seen <= counted <= seen + failed
    wanted = len(found["posts"]) * len(READERS)
    brought = _settled(lambda: _brought(calls_as, found["posts"]), wanted)
    return [
        # A day on which nothing was acknowledged shows nothing.
        Check("comments", written, there, there == written > 0),
        Check("impressions counted", seen, counted, exactly and seen > 0),
        Check("posts in followers' news", wanted, brought, brought == wanted > 0),
    ]


def _settled(count: Callable[[], int], wanted: int) -> int:
    """Return the count once it is the wanted one, or the last count when the time is over."""
    deadline = time.monotonic() + DRAIN_SECONDS
    while (found := count()) < wanted and time.monotonic() < deadline:
        time.sleep(1)
    return found


def _listed(calls: Caller, comments: list[tuple[str, str]]) -> int:
    """Return how many of the comments their nodes list exactly once."""
    path = "/nodes/{node}/comments"
    listed = Counter(
        (node, comment["id"])
        for node in {node for node, _ in comments}
        for page in _pages(calls, path, {"node": node})
        for comment in page["comments"]
    )
    return sum(listed[node, comment_id] == 1 for node, comment_id in comments)


def _pages(calls: Caller, path: str, parameters: dict[str, str]) -> Iterator[dict[str, Any]]:
    """Yield all pages of a listing."""
    cursor: str | None = ""
    while cursor is not None:
        query = {"limit": "200"} | ({"cursor": cursor} if cursor else {})
        page = json.loads(calls("GET", path, parameters, query))
        yield page
        cursor = page["next"]


def _impressions(calls: Caller, today: date) -> int:
    """Return the impressions in the site's report, of two days in case midnight came between."""
    span = {"from": f"{today - timedelta(days=1)}", "to": f"{today + timedelta(days=1)}"}
    report = json.loads(calls("GET", "/reports/sites/{site}", {"site": SITE}, span))
    return sum(row["impressions"] for row in report["rows"])


def _brought(calls_as: CallsAs, posts: list[tuple[str, str]]) -> int:
    """Return how many of the posts each reader's news has exactly once, over all readers."""
    brought = Counter(
        (reader, post["id"])
        for reader in READERS
        for page in _pages(calls_as(reader), "/users/me/news", {})
        for post in page["posts"]
    )
    ids = {post_id for _, post_id in posts}
    return sum(brought[reader, each] == 1 for reader in READERS for each in ids)


if __name__ == "__main__":
    main()
