"""Which names have a row of their own: by what they are backed, and what a stranger can take up."""

import os
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import orjson
import pytest
from chalice.local import LocalChalice
from hypothesis import given
from hypothesis import strategies as st

from app import create_app
from chalicelib.analytics.hits import OTHER, Hits, PageHit
from chalicelib.analytics.reports import late, recount
from chalicelib.analytics.reports.admission import Candidate, Room, Tally, decide
from chalicelib.analytics.reports.names import NAME_COUNTS, VOTES
from chalicelib.analytics.settings import LogName
from chalicelib.runtime import Runtime
from tests.analytics.support.hits import (
    LOGS,
    SITE,
    at,
    count,
    differences,
    logs,
    rows,
    site,
    view,
    worker,
)
from tests.support.http_client import Client

NOON = at("2026-03-01 12:00")
DAY = timedelta(days=1)
TODAY = (at("2026-03-01"), at("2026-03-02"))
SPAN = "from=2026-03-01&to=2026-03-02"
# Few names, few of them by one network, three of each network.
SMALL = {
    "paths": 6,
    "paths_of_one": 3,
    "paths_of_network": 3,
    "sources": 4,
    "sources_of_one": 2,
    "sources_of_network": 2,
    "top_paths": 2,
    "top_sources": 1,
}


@pytest.fixture
def blog(runtime: Runtime) -> Runtime:
    site(runtime)
    return runtime


class Numbers:
    """Numbers hits."""

    def __init__(self) -> None:
        self._last = 0

    def __call__(self, path: str = "/a", network: str = "n1", **told: Any) -> Hits:
        self._last += 1
        ts = told.pop("ts", NOON)
        told.setdefault("visitor", f"v-{network}")
        return view(self._last, ts, path, network=network, **told)


@pytest.fixture
def hit() -> Numbers:
    return Numbers()


def named(runtime: Runtime, group: str = "path", day: datetime = TODAY[0]) -> dict[str, int]:
    """Return the hits of each name of a day."""
    return {row["key"]: row["hits"] for row in rows(runtime, day, day + DAY, group=group)}


def unlike(runtime: Runtime) -> list[Any]:
    """Return the differences of the reports from the log; visitors of `*other*` were there once."""
    return [each for each in differences(runtime, NOON) if each["subject"].value != OTHER]


def losses(publisher: Client, group: str = "path") -> dict[str, int]:
    found = publisher.get(f"/stats/{SITE}/losses?{SPAN}").json["rows"]
    causes: dict[str, int] = found[0]["other"][group]["causes"] if found else {}
    return {cause: number for cause, number in causes.items() if number}


@pytest.mark.bounds(analytics=SMALL)
def test_one_network_brings_so_many_names_and_no_more(
    blog: Runtime, publisher: Client, hit: Numbers
) -> None:
    """Whatever its user agents, which make any number of visitors."""
    for n in range(9):
        count(blog, hit(f"/{n}", visitor=f"v{n}"))

    assert named(blog) == {"/0": 1, "/1": 1, "/2": 1, OTHER: 6}
    assert losses(publisher) == {"spent": 6}
    assert rows(blog, *TODAY)[0]["hits"] == 9
    assert differences(blog, NOON) == []


@pytest.mark.bounds(analytics=SMALL)
def test_a_second_network_admits_a_name_beyond_those_of_one(
    blog: Runtime, publisher: Client, hit: Numbers
) -> None:
    count(blog, *(hit(f"/{n}", "n1") for n in range(3)))
    count(blog, hit("/x", "n2"))
    assert named(blog) == {"/0": 1, "/1": 1, "/2": 1, OTHER: 1}
    assert losses(publisher) == {"unconfirmed": 1}

    count(blog, hit("/x", "n2", visitor="another"))
    assert named(blog)[OTHER] == 2
    count(blog, hit("/x", "n3"))

    assert named(blog) == {"/0": 1, "/1": 1, "/2": 1, "/x": 1, OTHER: 2}


@pytest.mark.bounds(analytics=SMALL)
def test_a_day_has_so_many_names(blog: Runtime, publisher: Client, hit: Numbers) -> None:
    for n in range(8):
        count(blog, hit(f"/{n}", f"a{n}"), hit(f"/{n}", f"b{n}"))

    assert named(blog) == {**{f"/{n}": 2 for n in range(6)}, OTHER: 4}
    assert losses(publisher) == {"full": 4}


@pytest.mark.bounds(analytics=SMALL)
def test_sources_are_admitted_as_pages_are(blog: Runtime, publisher: Client, hit: Numbers) -> None:
    for n in range(4):
        count(blog, hit(ref=f"{n}.example", campaign=f"c{n}", network="n1"))
    count(blog, hit(ref="x.example", campaign="x", network="n2"))
    count(blog, hit(ref="x.example", campaign="x", network="n3"))

    for group, names in (
        ("referrer", {"0.example", "1.example", "x.example", OTHER}),
        ("campaign", {"c0", "c1", "x", OTHER}),
    ):
        assert set(named(blog, group)) == names
        assert losses(publisher, group) == {"spent": 2, "unconfirmed": 1}
    _follow(blog)
    assert unlike(blog) == []


@pytest.mark.bounds(analytics=SMALL)
def test_countries_and_devices_need_nobody(blog: Runtime, hit: Numbers) -> None:
    for n in range(9):
        count(blog, hit(country=f"A{chr(65 + n)}"))

    assert OTHER not in named(blog, "country")
    assert len(named(blog, "country")) == 9


@pytest.mark.bounds(analytics=SMALL)
def test_the_most_read_names_of_yesterday_are_known(blog: Runtime, hit: Numbers) -> None:
    yesterday = NOON - DAY
    for path, visitors in (("/top", 3), ("/second", 2), ("/junk", 1)):
        sent = (
            hit(path, f"n{n}", ts=yesterday, ref=f"{path[1:]}.example") for n in range(visitors)
        )
        count(blog, *sent, *(hit(path, "n0", ts=yesterday) for _ in range(20)))
    # Another day's room, and a network that has brought its names.
    _fill(blog, hit)

    fresh = worker(blog, 7)
    fresh.count([hit(path, "spent") for path in ("/top", "/second", "/junk")])
    fresh.count([hit("/top", "spent", ref=f"{name}.example") for name in ("top", "second")])

    assert {"/top", "/second"} <= set(named(blog))
    assert "/junk" not in named(blog)
    assert "top.example" in named(blog, "referrer")
    assert "second.example" not in named(blog, "referrer")


def _follow(runtime: Runtime) -> int:
    """Have hits follow late names, once no worker can be counting as before."""
    runtime.now.advance(seconds=90)  # type: ignore[attr-defined]
    return late.follow(runtime)


def _fill(runtime: Runtime, hit: Numbers) -> None:
    """Use up today's room for pages and sources that nobody knows."""
    for n in range(8):
        told = {"ref": f"f{n}.example"}
        count(runtime, hit(f"/f{n}", f"a{n}", **told), hit(f"/f{n}", f"b{n}", **told))


@pytest.mark.bounds(analytics=SMALL)
def test_pages_of_content_and_of_nodes_are_known(
    blog: Runtime, client: Client, hit: Numbers
) -> None:
    content = {"title": "Blog", "base_url": "https://blog.example/en", "language": "en"}
    told = {"author": "Blog", "changed": NOON, "comments": "off", "feed_host": "a", "feed_items": 9}
    blog.database["content.site"].insert_one({"_id": SITE, **content, **told, "version": 1})
    addresses = [("ferry", -DAY), ("later", DAY), ("x/y", -DAY), ("old", DAY)]
    # Another page's until the instant.
    former = {"old": {"former": {"node": "ferry", "since": blog.now() - DAY}}}
    for slug, since in addresses:
        held: Any = {"node": slug, "current": True, "since": blog.now() + since}
        held |= former.get(slug, {})
        blog.database["content.address"].insert_one({"_id": f"{SITE}:{slug}", **held})
    editor = client.as_("eve", roles=["admin"])
    node = {"title": "Moon", "url": "https://blog.example/moon", "site": SITE}
    assert editor.put(f"/nodes/{SITE}:moon", **node).status in {200, 201}
    _fill(blog, hit)

    own = {"node": f"{SITE}:moon"}
    count(blog, *(hit(f"/en/{slug}", "spent") for slug, _ in addresses), hit("/ferry", "spent"))
    count(blog, hit("/moon", "spent"))
    assert "/moon" not in named(blog)
    count(blog, hit("/made-up", "spent", **own), hit("/moon", "spent", **own))

    assert {name for name in named(blog) if not name.startswith("/f")} == {
        "/en/ferry",
        "/en/old",
        "/en/x/y",
        "/moon",
        OTHER,
    }


@pytest.mark.bounds(analytics=SMALL)
def test_a_removed_name_frees_its_place(blog: Runtime, publisher: Client, hit: Numbers) -> None:
    _fill(blog, hit)
    real = [hit("/real", "n1", ref="real.example"), hit("/real", "n2", ref="real.example")]
    worker(blog, 1).count(real)
    assert "/real" not in named(blog)

    assert publisher.delete(f"/stats/{SITE}?path=/f0").status == 204
    assert publisher.delete(f"/stats/{SITE}?referrer=f0.example").status == 204
    worker(blog, 2).count([hit("/real", "n3", ref="real.example")])
    worker(blog, 3).count([hit("/real", "n4", ref="real.example")])

    assert "/real" in named(blog)
    assert "real.example" in named(blog, "referrer")
    counted = {row["_id"]: row["names"] for row in NAME_COUNTS.of(blog.database).find()}
    assert counted[f"{SITE}/20260301/path"] == 6
    assert counted[f"{SITE}/20260301/referrer"] == 4


@pytest.mark.bounds(analytics={**SMALL, "paths_of_one": 6, "sources_of_one": 4})
@pytest.mark.parametrize("log", LOGS)
def test_hits_of_before_follow_a_name_that_is_admitted_late(
    runtime: Runtime, publisher: Client, log: LogName
) -> None:
    hit = Numbers()
    site(runtime, log)
    count(runtime, *(hit(f"/{n}", "n1", ref=f"{n}.example") for n in range(3)))
    told = [hit("/x", "n1", ref="x.example", ts=NOON - timedelta(minutes=n)) for n in range(4)]
    count(runtime, *told, hit("/x", "n1", kind="bot"), hit("/junk", "n1", visitor="other"))
    count(runtime, hit("/x", "n2", ref="x.example"), told[0])
    assert (named(runtime)["/x"], named(runtime)[OTHER]) == (1, 5)
    assert late.follow(runtime) == 0

    assert _follow(runtime) == 2
    assert late.follow(runtime) == 0

    assert (named(runtime)["/x"], named(runtime)[OTHER]) == (5, 1)
    assert named(runtime, "referrer")["x.example"] == 5
    assert losses(publisher)["named_later"] == 5
    by_minute = rows(runtime, *TODAY, by="minute", group="path", path="/x")
    assert [row["hits"] for row in by_minute if row["hits"]] == [1, 1, 1, 2]
    assert unlike(runtime) == []
    count(runtime, hit("/x", "n1", ref="x.example"))
    assert rows(runtime, *TODAY, group="path", path="/x")[0]["visitors"] == 2


@pytest.mark.bounds(analytics={**SMALL, "paths_of_one": 6})
def test_a_name_that_is_counted_at_that_moment_waits(
    blog: Runtime, hit: Numbers, monkeypatch: pytest.MonkeyPatch
) -> None:
    count(blog, *(hit(f"/{n}", "n1") for n in range(3)), hit("/x", "n1"))
    count(blog, hit("/x", "n2"))
    blog.now.advance(seconds=90)  # type: ignore[attr-defined]
    read = late._counts

    def meanwhile(*told: Any) -> Any:
        found = read(*told)
        count(blog, hit("/x", "n3"))
        return found

    monkeypatch.setattr(late, "_counts", meanwhile)
    assert late.follow(blog) == 0
    monkeypatch.undo()

    assert _follow(blog) == 1
    assert named(blog)["/x"] == 3
    assert OTHER not in named(blog)
    assert differences(blog, NOON) == []


@pytest.mark.bounds(analytics={**SMALL, "paths_of_one": 6, "late_in_a_run": 1})
def test_a_late_name_that_has_to_wait_keeps_no_other_waiting(blog: Runtime, hit: Numbers) -> None:
    """The hits of its site are on their way to another log."""
    site(blog, name="moving")
    for whose in ("moving", SITE):
        count(blog, *(hit(f"/{n}", "n1", site=whose) for n in range(3)))
        count(blog, hit("/x", "n1", site=whose))
        count(blog, hit("/x", "n2", site=whose))
    sites = blog.database["hit.site"]
    moving = {"log_from": "capped", "log_to": "expiring", "announced_at": NOON}
    sites.update_one({"_id": "moving"}, {"$set": {"moving": {**moving, "switched_at": NOON}}})

    assert [_follow(blog), _follow(blog)] == [0, 1]
    sites.update_one({"_id": "moving"}, {"$unset": {"moving": ""}})
    assert _follow(blog) == 1

    assert named(blog)["/x"] == 2


@pytest.mark.bounds(analytics=SMALL)
def test_who_is_there_now_is_on_pages_that_reports_name(
    blog: Runtime, publisher: Client, hit: Numbers
) -> None:
    count(blog, *(hit(f"/junk/{n % 60}", "n1") for n in range(120)))
    count(blog, hit("/real", "n2"), hit("/real", "n3"))

    paths = publisher.get(f"/stats/{SITE}/now").json["paths"]

    assert {each["path"]: each["hits"] for each in paths} == {
        OTHER: 114,
        "/junk/0": 2,
        "/junk/1": 2,
        "/junk/10": 2,
        "/real": 2,
    }


@pytest.mark.bounds(analytics=SMALL)
def test_two_workers_at_once_are_two_votes(blog: Runtime, hit: Numbers) -> None:
    """Neither sees the other's vote, but both write to the day's count."""
    count(blog, *(hit(f"/{n}", "n1") for n in range(3)))
    messages = [[hit("/x", f"m{n}")] for n in range(4)]

    def work(number: int) -> int:
        return worker(blog, number).count(messages[number])

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(work, range(4))) == 4

    assert "/x" in named(blog)
    _follow(blog)
    assert named(blog)["/x"] == 4


@pytest.mark.bounds(analytics=SMALL)
def test_a_message_that_comes_again_casts_no_vote(blog: Runtime, hit: Numbers) -> None:
    sent = [hit("/x", "n1"), hit("/y", "n1")]

    for number in range(3):
        worker(blog, number).count(sent)

    (row,) = VOTES.of(blog.database).find()
    assert len(row["votes"]) == 2


def test_a_message_of_an_earlier_release_has_visitors_for_networks(blog: Runtime) -> None:
    told = [view(n, NOON, f"/{n}", visitor="ann") for n in range(40)]

    count(blog, *told, *(view(100 + n, NOON, f"/b{n}", visitor=None) for n in range(40)))

    assert len(named(blog)) == 30 + 30 + 1


@pytest.mark.parametrize("visitor_agents", [1, 5])
def test_a_network_is_one_whatever_its_agents_and_addresses(
    refused: Runtime, client: Client, visitor_agents: int
) -> None:
    site(refused)
    behind = replace(refused, settings=refused.settings.model_copy(update={"trusted_hops": 1}))
    page = replace(client, app=create_app(behind, LocalChalice))
    for n in range(50):
        body = orjson.dumps({"site": SITE, "hits": [{"path": f"/{n}"}]})
        sent = {
            "User-Agent": f"Mozilla/5.0 (X11; Linux x86_64; rv:{n % visitor_agents}) Firefox/140.0",
            "X-Forwarded-For": f"203.0.113.{n}, 198.51.100.1",
        }
        assert page.request("POST", "/hits", body=body, headers=sent).status == 202

    assert len([name for name in named(refused) if name != OTHER]) == 30


ROOM = Room(names=5, by_one=2, of_network=2)
ASKED = st.lists(
    st.tuples(st.sampled_from("abcdefghij"), st.sampled_from("1234"), st.booleans()), max_size=40
)


@given(ASKED)
def test_no_sequence_of_questions_takes_more_than_the_room(asked: list[Any]) -> None:
    tally, votes, admitted = Tally(), dict[str, set[int]](), Counter[str]()
    for name, network, is_known in asked:
        if admitted[name]:
            continue
        found = decide({name: Candidate(ord(name), {network}, is_known)}, votes, tally, ROOM)
        for whose, keys in found.cast.items():
            votes.setdefault(whose, set()).update(keys)
        admitted.update(list(found.via))
        assert found.via.keys() | found.causes.keys() == {name}

    assert tally.names <= ROOM.names
    assert tally.known <= ROOM.names
    assert tally.one <= ROOM.by_one
    assert all(len(keys) <= ROOM.of_network for keys in votes.values())
    assert sum(admitted.values()) == tally.names + tally.known
    # Each name that is not known has cost its networks a vote, and two beyond those of one.
    cost = sum(map(len, votes.values()))
    assert 2 * tally.names - tally.one <= cost


def attack(networks: int, names: int) -> Iterator[list[Hits]]:
    """Give messages of 20 hits, each of a page that nobody has, in batches of a worker."""
    batch: list[Hits] = []
    for first in range(0, names, 20):
        of = f"net{first // 20 % networks}"
        hits = tuple(
            PageHit(id=f"junk-{n:011}", ts=NOON, path=f"/junk/{n}", visitor=f"{of}-{n}", network=of)
            for n in range(first, first + 20)
        )
        batch.append(Hits(site=SITE, kind="view", device="desktop", hits=hits))
        if len(batch) == 25:
            yield batch
            batch = []
    if batch:
        yield batch


WHOLE = bool(os.environ.get("PLAZA_TEST_WHOLE_ATTACK"))
NETWORKS, JUNK, PAGES_READ = (200, 100_000, 300) if WHOLE else (20, 2_000, 30)
ROOMS = {} if WHOLE else {"paths": 500, "paths_of_one": 250, "top_paths": 250}


@pytest.mark.bounds(analytics=ROOMS)
@pytest.mark.timeout(1_800 if WHOLE else 60)
def test_junk_of_many_networks_leaves_real_pages_counted(blog: Runtime, hit: Numbers) -> None:
    """With PLAZA_TEST_WHOLE_ATTACK=1: 100,000 names of 200 networks, and the bounds as they are."""
    known = [f"/known/{n}" for n in range(PAGES_READ)]
    count(blog, *(hit(path, f"y{n}", ts=NOON - DAY) for path in known for n in range(2)))
    counter = worker(blog, 1)
    for batch in attack(NETWORKS, JUNK):
        counter.count(batch)

    new = [f"/new/{n}" for n in range(PAGES_READ)]
    # After it, each page has a reader or two, who read three pages each.
    for number, path in enumerate(known + new):
        counter.count([hit(path, f"r{number // 3}"), hit(path, f"s{number // 3}")])

    found = named(blog)
    assert {path for path in known + new if found.get(path) == 2} == {*known, *new}
    assert rows(blog, *TODAY)[0]["hits"] == JUNK + 4 * PAGES_READ
    assert found[OTHER] == rows(blog, *TODAY)[0]["hits"] - sum(
        number for name, number in found.items() if name != OTHER
    )
    assert recount.differences(blog.database, logs(blog), SITE, TODAY[0]) == []


@pytest.mark.bounds(analytics={"paths": 50, "paths_of_one": 25})
def test_a_site_of_more_pages_than_a_day_has_counts_as_many_as_it_may(
    blog: Runtime, hit: Numbers
) -> None:
    counter = worker(blog, 1)
    for n in range(60):
        counter.count([hit(f"/{n}", f"r{n // 5}"), hit(f"/{n}", f"s{n // 5}")])

    found = named(blog)
    assert len(found) == 51
    assert sum(found.values()) == 120


def test_the_only_visit_of_an_old_page_is_in_its_row(blog: Runtime, hit: Numbers) -> None:
    count(blog, hit("/old", "n1"))

    assert named(blog) == {"/old": 1}
