"""A fault of a beacon costs a detail or a hit, never the others, and its publisher sees it."""

import json
from dataclasses import replace
from typing import Any

import orjson
import pytest
from chalice.app import Chalice
from chalice.local import LocalChalice
from hypothesis import given, settings
from hypothesis import strategies as st

from app import create_app
from chalicelib.analytics.counting.forms import NewHits, SentHit
from chalicelib.analytics.counting.reading import DAY_MS, read
from chalicelib.analytics.hits import HITS, HITS_AT_ONCE, Dropped, Hits
from chalicelib.http import requests
from chalicelib.runtime import Runtime
from tests.analytics.counting.test_beacons import ID, held
from tests.analytics.support.hits import SITE, at, count, differences, site, view, worker
from tests.support.clock import START
from tests.support.http_client import Client, Reply
from tests.support.workers import Workers

PATH = {"path": "/a"}
SPAN = "from=2026-03-01&to=2026-03-02"


@pytest.fixture
def app(refused: Runtime) -> Chalice:
    """An app that counts hits within the request."""
    site(refused)
    return create_app(refused, LocalChalice)


def send(client: Client, body: bytes) -> Reply:
    return client.request("POST", "/hits", body=body)


def beacon(client: Client, *hits: Any) -> Reply:
    return send(client, orjson.dumps({"site": SITE, "hits": hits}))


def dropped(publisher: Client) -> dict[str, int]:
    """Return the faults of today's beacons, as the publisher sees them."""
    rows = publisher.get(f"/stats/{SITE}/losses?{SPAN}").json["rows"]
    counted: dict[str, int] = rows[0]["dropped"] if rows else {}
    return counted


@pytest.mark.parametrize(
    ("detail", "kept"),
    [
        ({"ref": "https://r.example/" + "x" * 4_000}, {"ref": "r.example"}),
        ({"title": "x" * 300}, {"title": "x" * 200}),
        ({"title": " \x00a\x07 "}, {"title": "a"}),
        ({"title": ""}, {}),
        ({"ago_ms": 1.9}, {}),
        ({"more": {"a": [1]}}, {}),
        (dict.fromkeys(("id", "ref", "title", "node", "ago_ms")), {}),
    ],
)
def test_a_detail_is_cut(
    client: Client, publisher: Client, runtime: Runtime, detail: dict[str, Any], kept: Any
) -> None:
    assert beacon(client, {**PATH, **detail}).json == {"hits": 1}

    (hit,) = held(runtime)
    assert {name: hit[name] for name in ("ref", "title", "node") if name in hit} == kept
    assert dropped(publisher) == {}


@pytest.mark.parametrize(
    "wrong",
    [
        ("id", "short", "id"),
        ("id", "$where-1234567890", "id"),
        ("id", f"{ID}\n", "id"),
        ("id", 7, "id"),
        ("ref", ["https://r.example/"], "referrer"),
        ("title", {"a": 1}, "title"),
        ("node", "a b", "node"),
        ("node", "x" * 257, "node"),
        ("ago_ms", "7", "ago_ms"),
        ("ago_ms", True, "ago_ms"),
    ],
)
def test_a_detail_that_is_wrong_is_dropped_and_counted(
    client: Client, publisher: Client, runtime: Runtime, wrong: tuple[str, Any, str]
) -> None:
    name, value, fault = wrong
    assert beacon(client, {**PATH, name: value}, {"path": "/b"}).json == {"hits": 2}

    assert [(hit["path"], hit["ts"]) for hit in held(runtime)] == [("/a", START), ("/b", START)]
    assert all(name not in hit for hit in held(runtime))
    assert dropped(publisher) == {fault: 1}


@pytest.mark.parametrize(
    ("number", "ago_ms"),
    [("-1", 0), (str(DAY_MS + 1), DAY_MS), ("1e400", DAY_MS), ("9" * 400, DAY_MS), ("-1e300", 0)],
)
def test_a_number_out_of_range_is_cut(
    client: Client, runtime: Runtime, number: str, ago_ms: int
) -> None:
    hit = f'{{"path": "/a", "ago_ms": {number}}}'
    assert send(client, f'{{"site": "{SITE}", "hits": [{hit}]}}'.encode()).json == {"hits": 1}

    (kept,) = held(runtime)
    assert int((START - kept["ts"]).total_seconds() * 1_000) == ago_ms


@pytest.mark.parametrize(
    "bad",
    [{}, {"path": None}, {"path": "a"}, {"path": "/" + "a" * 512}, {"path": "/../b"}, 7, None],
)
def test_one_bad_hit_among_twenty_loses_only_itself(
    client: Client, publisher: Client, runtime: Runtime, bad: Any
) -> None:
    hits: list[Any] = [{"path": f"/{n}"} for n in range(20)]
    hits[7] = bad

    assert beacon(client, *hits).json == {"hits": 19}

    assert {hit["path"] for hit in held(runtime)} == {f"/{n}" for n in range(20) if n != 7}
    assert dropped(publisher) == {"path": 1}
    assert differences(runtime, START) == []


@pytest.mark.parametrize(("number", "taken"), [(20, 20), (21, 20), (200, 20)])
def test_of_too_many_hits_the_first_are_counted(
    client: Client, publisher: Client, number: int, taken: int
) -> None:
    assert beacon(client, *({"path": f"/{n}"} for n in range(number))).json == {"hits": taken}

    assert dropped(publisher).get("number", 0) == number - taken


def test_a_beacon_of_more_hits_than_any_browser_sends_is_refused(client: Client) -> None:
    reply = beacon(client, *({"path": f"/{n}"} for n in range(201)))

    assert (reply.status, reply.json["errors"][0]["code"]) == (422, "too_long")


def test_a_beacon_without_a_path_is_refused_and_counted(client: Client, publisher: Client) -> None:
    reply = beacon(client, {"path": "a"}, {})

    assert (reply.status, reply.code) == (422, "invalid_request")
    assert [each["field"] for each in reply.json["errors"]] == ["hits.0.path", "hits.1.path"]
    assert dropped(publisher) == {"path": 2}


@pytest.mark.parametrize("how", ["by=day", "by=day&tz=Asia/Tokyo", "by=month", "by=hour"])
def test_a_day_of_faults_alone_has_no_row_in_the_stats(
    client: Client, publisher: Client, how: str
) -> None:
    beacon(client, {})

    assert publisher.get(f"/stats/{SITE}?{SPAN}&{how}").json["rows"] == []
    assert dropped(publisher) == {"path": 1}


@pytest.mark.parametrize(
    ("hit", "path", "title"),
    [
        (r'{"path": "/a", "title": "cut \ud83d"}', "/a", "cut"),
        (r'{"path": "/a", "title": "\ude00 cut"}', "/a", "\ufffd cut"),
        (r'{"path": "/a", "title": "\ud83d\ude00"}', "/a", "\N{GRINNING FACE}"),
        (r'{"path": "/a\ud800"}', "/a\ufffd", None),
        (r'{"path": "/a%FF%C3", "x": "\ud800"}', "/a%FF%C3", None),
        ('{"path": "/a", "x": NaN}', "/a", None),
    ],
)
def test_half_a_character_spoils_nothing_else(
    client: Client, runtime: Runtime, hit: str, path: str, title: str | None
) -> None:
    body = f'{{"site": "{SITE}", "hits": [{hit}, {{"path": "/b"}}]}}'

    assert send(client, body.encode()).json == {"hits": 2}

    first = next(each for each in held(runtime) if each["path"] != "/b")
    assert (first["path"], first.get("title")) == (path, title)


def test_bytes_that_are_no_text_spoil_nothing_else(client: Client, runtime: Runtime) -> None:
    body = b'{"site": "blog", "hits": [{"path": "/a", "title": "caf\xe9"}]}'

    assert send(client, body).json == {"hits": 1}

    assert held(runtime)[0]["title"] == "caf"


def test_a_pixel_is_as_lenient(client: Client, publisher: Client, runtime: Runtime) -> None:
    target = f"/hits/{SITE}/pixel?"

    replies = [
        client.get(target + query)
        for query in ("path=/a&id=short", "path=/b&more=1", "path=/%25FF", "path=b", "id=a")
    ]

    assert [reply.status for reply in replies] == [200, 200, 200, 422, 422]
    assert [reply.json["errors"][0]["field"] for reply in replies[3:]] == ["path", "path"]
    assert {hit["path"] for hit in held(runtime)} == {"/a", "/b", "/%FF"}
    assert dropped(publisher) == {"id": 1, "path": 1}


def test_a_beacon_that_is_sent_twice_counts_its_faults_once(
    client: Client, publisher: Client
) -> None:
    for _ in range(2):
        beacon(client, {"id": ID, **PATH, "node": "a b"}, {})

    assert dropped(publisher) == {"node": 1, "path": 1}


def test_faults_count_once_whoever_delivers_them_again(runtime: Runtime, publisher: Client) -> None:
    site(runtime)
    told = Dropped(id=ID, at=START, faults={"path": 3})
    message = view(1, START).model_copy(update={"dropped": told})
    other = message.model_copy(update={"site": "nobody"})

    worker(runtime, 1).count([message, message, other])
    worker(runtime, 2).count([message, view(2, START)])
    late = told.model_copy(update={"at": at("2026-02-10"), "id": "b" * 16})
    count(runtime, Hits(site=SITE, kind="bot", hits=(), dropped=late))

    assert dropped(publisher) == {"path": 3}
    assert differences(runtime, START) == []


def test_faults_go_through_the_queue(
    runtime: Runtime, workers: Workers, client: Client, publisher: Client
) -> None:
    through = replace(client, app=create_app(runtime, LocalChalice))
    beacon(through, {"path": "a"})
    assert dropped(publisher) == {}

    assert workers.drain() == 1

    assert dropped(publisher) == {"path": 1}


def test_a_message_of_an_earlier_release_has_no_faults() -> None:
    body = view(1, START).model_dump_json(exclude={"dropped"})

    assert HITS.validate_json(body).dropped is None


@pytest.mark.parametrize(
    "query",
    [
        "from=2026-03-02&to=2026-03-01",
        "from=2025-01-01&to=2026-03-01",
        # It touches 367 days.
        "from=2026-01-01T12:00:00Z&to=2027-01-02T12:00:00Z",
    ],
)
def test_losses_have_a_span(client: Client, publisher: Client, query: str) -> None:
    whole = "from=2026-01-01T12:00:00Z&to=2027-01-02"
    assert publisher.get(f"/stats/{SITE}/losses?{whole}").status == 200
    assert publisher.get(f"/stats/{SITE}/losses?{query}").code == "invalid_request"
    assert publisher.get(f"/stats/nobody/losses?{SPAN}").status == 403
    admin = client.as_("root", roles=["admin"])
    assert admin.get(f"/stats/nobody/losses?{SPAN}").code == "unknown_site"


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)
SENT = st.fixed_dictionaries(
    {"path": st.just("/a") | ANYTHING},
    optional=dict.fromkeys(("id", "ref", "title", "node", "ago_ms", "more"), ANYTHING),
)


@settings(max_examples=300, deadline=None)
@given(hits=st.lists(SENT | ANYTHING, min_size=1, max_size=25))
def test_whatever_is_sent_no_hit_costs_another(hits: list[Any]) -> None:
    body = json.dumps({"site": SITE, "hits": hits}).encode()

    parsed = requests.parse(body, NewHits, 1_000_000)
    found = read(parsed.hits)

    right = [
        hit for hit in hits[:HITS_AT_ONCE] if isinstance(hit, dict) and hit.get("path") == "/a"
    ]
    assert sum(hit.path == "/a" for hit in found.hits) >= len(right)
    assert len(found.hits) + found.faults["path"] == min(len(hits), HITS_AT_ONCE)
    for hit in found.hits:
        text = orjson.dumps([hit.path, hit.title, hit.node, hit.id])
        assert text
        assert 0 <= hit.ago_ms <= DAY_MS


def test_a_hit_of_anything_is_one_without_a_path() -> None:
    assert read([SentHit.model_validate(7)]).faults == {"path": 1}
