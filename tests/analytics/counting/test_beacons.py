"""From the page: beacons and pixels, who sent them, and all that could be wrong with them."""

import logging
from dataclasses import replace
from datetime import timedelta
from typing import Any

import orjson
import pytest
from chalice.app import Chalice
from chalice.local import LocalChalice
from pydantic import SecretStr

from app import create_app
from chalicelib.analytics.logs import together
from chalicelib.analytics.logs.log import Span
from chalicelib.analytics.settings import SITES
from chalicelib.analytics.visitors import agents
from chalicelib.runtime import Runtime
from tests.analytics.support.hits import SITE, differences, logs, rows, site
from tests.support.clock import START, Clock
from tests.support.http_client import Client, Reply
from tests.support.workers import Workers

DAY = timedelta(days=1)
GOOGLEBOT = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"
FEEDLY = "Feedly/1.0 (+http://www.feedly.com/fetcher.html; 1 subscribers)"
PHONE = "Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) Mobile/15E148 Safari/604.1"
TABLET = "Mozilla/5.0 (iPad; CPU OS 12_0 like Mac OS X) Mobile/15E148 Safari/604.1"
ID = "aaneGAECAwQFBgcI"
PROOF = "a proof that the CDN adds"


@pytest.fixture
def app(refused: Runtime) -> Chalice:
    """An app that counts hits within the request."""
    site(refused)
    behind_a_cdn = refused.settings.model_copy(update={"cdn_proof": SecretStr(PROOF)})
    return create_app(replace(refused, settings=behind_a_cdn), LocalChalice)


def beacon(client: Client, *hits: dict[str, Any], **headers: str) -> Reply:
    body = orjson.dumps({"site": SITE, "hits": hits or [{"path": "/a"}]})
    sent = {"Content-Type": "text/plain;charset=UTF-8", **headers}
    return client.request("POST", "/hits", body=body, headers=sent)


def held(runtime: Runtime) -> list[Any]:
    """Return the hits of the site's log, without what every one has."""
    span = Span(SITE, START - 2 * DAY, START + 2 * DAY)
    return [dict(hit) for hit in together.read(logs(runtime), span, None, 100)]


def total(runtime: Runtime) -> dict[str, int]:
    found = rows(runtime, START - 2 * DAY, START + 2 * DAY)
    return {name: sum(row[name] for row in found) for name in ("hits", "visitors", "bots", "feeds")}


def test_a_site_that_begins_with_analytics_is_counted_at_once(
    client: Client, runtime: Runtime
) -> None:
    """Another container switched it on; this one heard of the site before."""
    stored = SITES.of(runtime.database).find_one_and_delete({"_id": SITE})
    assert stored is not None
    assert beacon(client).code == "unknown_site"
    SITES.of(runtime.database).insert_one(stored)

    assert beacon(client).status == 202


def test_a_beacon_is_counted(client: Client, runtime: Runtime) -> None:
    reply = beacon(client, {"id": ID, "path": "/a/?x=1#top"}, {"path": "/b", "ago_ms": 60_000})

    assert (reply.status, reply.json) == (202, {"hits": 2})
    assert reply.headers["Cache-Control"] == "no-store"
    assert total(runtime) == {"hits": 2, "visitors": 1, "bots": 0, "feeds": 0}
    assert [(hit["path"], hit["ts"]) for hit in held(runtime)] == [
        ("/b", START - timedelta(minutes=1)),
        ("/a", START),
    ]


def test_a_beacon_that_is_sent_twice_counts_once(client: Client, runtime: Runtime) -> None:
    for _ in range(2):
        beacon(client, {"id": ID, "path": "/a"})

    assert total(runtime)["hits"] == 1


def test_a_pixel_is_a_beacon_too(client: Client, runtime: Runtime) -> None:
    target = f"/hits/{SITE}/pixel?path=/a%3Futm_source%3Dletter&id={ID}"

    assert [client.get(target).status, client.get(target).status] == [200, 200]

    assert total(runtime)["hits"] == 1
    assert held(runtime)[0]["campaign"] == "letter"


def test_a_beacon_goes_through_the_queue(
    runtime: Runtime, workers: Workers, client: Client
) -> None:
    """With queues that work: one message, which the worker counts."""
    del client
    through = Client(create_app(runtime, LocalChalice), lambda *_, **__: "")
    assert beacon(through, {"path": "/a"}, {"path": "/b"}).status == 202
    assert total(runtime)["hits"] == 0

    assert workers.drain() == 1

    assert total(runtime)["hits"] == 2
    assert differences(runtime, START) == []


def test_what_is_known_of_a_hit_is_kept_and_no_more(client: Client, runtime: Runtime) -> None:
    told = {
        "id": ID,
        "path": "/a?utm_source=letter&utm_medium=mail&secret=1",
        "ref": "https://www.News.example/page?q=private",
        "title": "A\u0000title",
        "node": "blog:a",
    }
    by_the_cdn = {"CloudFront-Viewer-Country": "DE", agents.COUNTRY_PROOF_HEADER: PROOF}
    beacon(client, told, **by_the_cdn, **{"User-Agent": PHONE})

    (hit,) = held(runtime)
    assert len(hit.pop("visitor")) == 12
    assert hit == {
        "_id": f"{SITE}:{ID}",
        "site": SITE,
        "ts": START,
        "path": "/a",
        "kind": "view",
        "ref": "news.example",
        "campaign": "letter/mail",
        "title": "Atitle",
        "node": "blog:a",
        "device": "mobile",
        "country": "DE",
    }


def test_the_site_itself_is_no_source(client: Client, runtime: Runtime) -> None:
    told = {"path": "/a", "ref": "https://blog.example/b"}

    beacon(client, told, Origin="https://blog.example")

    assert "ref" not in held(runtime)[0]


@pytest.mark.parametrize(
    ("agent", "device"), [(PHONE, "mobile"), (TABLET, "tablet"), (None, "desktop")]
)
def test_a_hit_is_of_a_device(
    client: Client, runtime: Runtime, agent: str | None, device: str
) -> None:
    beacon(client, **({"User-Agent": agent} if agent else {}))

    assert held(runtime)[0]["device"] == device


@pytest.mark.parametrize(("agent", "field"), [(GOOGLEBOT, "bots"), (FEEDLY, "feeds"), ("", "bots")])
def test_programs_are_counted_apart(
    client: Client, runtime: Runtime, agent: str, field: str
) -> None:
    beacon(client, **{"User-Agent": agent})

    assert total(runtime) == {"hits": 0, "visitors": 0, "bots": 0, "feeds": 0, field: 1}
    assert "visitor" not in held(runtime)[0]


@pytest.mark.parametrize("header", ["Sec-GPC", "DNT"])
def test_one_who_objects_is_no_visitor(client: Client, runtime: Runtime, header: str) -> None:
    beacon(client, **{header: "1"})

    assert total(runtime) == {"hits": 1, "visitors": 0, "bots": 0, "feeds": 0}


def test_a_visitor_is_one_for_a_day_and_another_on_the_next(
    client: Client, runtime: Runtime, clock: Clock
) -> None:
    beacon(client)
    beacon(client, {"path": "/b"})
    clock.advance(days=1)
    # Yesterday's hit that comes late has yesterday's visitor.
    beacon(client, {"path": "/c"}, {"path": "/d", "ago_ms": 86_400_000})

    visitors = {hit["path"]: hit["visitor"] for hit in held(runtime)}
    assert visitors["/a"] == visitors["/b"] == visitors["/d"] != visitors["/c"]
    assert total(runtime)["visitors"] == 2


def test_no_address_and_no_agent_is_stored_sent_or_logged(
    client: Client,
    runtime: Runtime,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    agent = "Mozilla/5.0 (X11; Linux x86_64; rv:142.7) Gecko/20100101 Firefox/142.7"

    beacon(client, **{"User-Agent": agent})

    stored = [
        str(document)
        for name in runtime.database.list_collection_names()
        if not name.startswith("system.")
        for document in runtime.database[name].find()
    ]
    logged = [str(each.__dict__) for each in caplog.records if each.name == "plaza"]
    assert any("hits counted" in line for line in logged)
    for text in (*stored, *logged):
        assert "142.7" not in text
        assert "127.0.0.1" not in text


def test_ones_own_visits_are_not_counted_until_they_are_again(
    client: Client, runtime: Runtime
) -> None:
    reply = client.put("/hits/ignore")
    cookie = reply.headers["Set-Cookie"].partition(";")[0]

    assert beacon(client, Cookie=f"other=1; {cookie}").json == {"hits": 0}
    assert total(runtime)["hits"] == 0

    again = client.delete("/hits/ignore").headers["Set-Cookie"]
    assert (reply.status, "Max-Age=0" in again) == (204, True)


def test_a_user_is_kept_where_the_site_has_reports_by_user(
    client: Client, runtime: Runtime, publisher: Client
) -> None:
    beacon(client.as_("zed"), {"path": "/before"})
    assert publisher.put(f"/sites/{SITE}/analytics", user_reports=True).status == 200
    beacon(client.as_("zed"), {"path": "/with"})
    beacon(client, {"path": "/without"})
    for header in ("Sec-GPC", "DNT"):
        beacon(client.as_("zed"), {"path": f"/{header}"}, **{header: "1"})

    users = {hit["path"]: hit.get("user") for hit in held(runtime)}
    named = {path: user for path, user in users.items() if user is not None}
    assert (len(users), named) == (5, {"/with": "zed"})


def test_a_hit_that_waited_longer_than_an_erasure_s_end_names_no_user(
    runtime: Runtime, publisher: Client, workers: Workers, clock: Clock
) -> None:
    """The deletion that ends an erasure has gone by: nothing would ever delete the user's id."""
    site(runtime, user_reports=True)
    through = replace(publisher, app=create_app(runtime, LocalChalice)).as_("zed")
    beacon(through, {"path": "/early", "ago_ms": 60_000})
    clock.advance(minutes=1)
    beacon(through, {"path": "/late"})
    clock.advance(minutes=15)

    workers.drain()

    users = {hit["path"]: hit.get("user") for hit in held(runtime)}
    assert users == {"/early": None, "/late": "zed"}


def test_settings_are_asked_for_once_a_minute(
    client: Client, runtime: Runtime, clock: Clock
) -> None:
    beacon(client)
    runtime.database["hit.site"].delete_many({})
    assert beacon(client).status == 202

    clock.advance(seconds=61)
    assert beacon(client).code == "unknown_site"


def test_only_the_sites_own_origins_count(client: Client, runtime: Runtime) -> None:
    site(runtime, origins=["https://blog.example"])

    replies = [
        beacon(client, Origin=origin)
        for origin in ("https://blog.example", "https://evil.example", "null")
    ]
    pixel = client.request(
        "GET", f"/hits/{SITE}/pixel?path=/a", headers={"Referer": "https://evil.example/x"}
    )

    assert [reply.status for reply in replies] == [202, 403, 403]
    assert (replies[1].code, pixel.code) == ("origin_refused", "origin_refused")
    assert total(runtime)["hits"] == 1


HIT = {"path": "/a"}


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        ({"site": SITE, "hits": []}, 422, "hits"),
        ({"site": SITE, "hits": [{"path": f"/{'a' * 512}"}]}, 422, "hits.0.path"),
        ({"site": SITE, "hits": [{"path": "/" + "%C3%A4" * 256}]}, 422, "hits.0.path"),
        ({"site": SITE, "hits": [{"path": "/a/../b"}]}, 422, "hits.0.path"),
        ({"site": SITE, "hits": [{"path": "/%2e%2e/b"}]}, 422, "hits.0.path"),
        ({"site": SITE, "hits": [{"path": "a"}]}, 422, "hits.0.path"),
        ({"site": SITE, "hits": [{"path": "*"}]}, 422, "hits.0.path"),
        ({"site": SITE, "hits": {}}, 422, "hits"),
        ({"hits": [HIT]}, 422, "site"),
        ({"site": 7, "hits": [HIT]}, 422, "site"),
        ({"site": "a.b", "hits": [HIT]}, 422, "site"),
        ({"site": "$a", "hits": [HIT]}, 422, "site"),
        ({"site": "nobody", "hits": [HIT]}, 404, None),
        ({"site": SITE, "hits": [{**HIT, "ref": "x" * 17_000}]}, 413, None),
    ],
)
def test_a_bad_beacon_is_refused_and_counts_nothing(
    client: Client, runtime: Runtime, body: Any, status: int, field: str | None
) -> None:
    reply = client.request("POST", "/hits", body=orjson.dumps(body))

    assert reply.status == status
    if field:
        assert [error["field"] for error in reply.json["errors"]] == [field]
    assert total(runtime)["hits"] == 0


@pytest.mark.parametrize("body", [b"", b"{", b"[" * 9_000, b'{"site": "blog", "hits": [', b"\xff"])
def test_a_body_that_is_no_json_is_refused(client: Client, body: bytes) -> None:
    assert client.request("POST", "/hits", body=body).code == "invalid_json"


def test_a_referrer_that_is_none_is_passed_over(client: Client, runtime: Runtime) -> None:
    for ref in ("", "about:blank", "http://[", "javascript:alert(1)", "https://*other*/"):
        assert beacon(client, {"path": "/a", "ref": ref}).status == 202

    assert all("ref" not in hit for hit in held(runtime))


@pytest.mark.parametrize(
    ("method", "headers"),
    [
        ("GET", {"User-Agent": GOOGLEBOT}),
        ("GET", {"Sec-Purpose": "prefetch;prerender"}),
        ("HEAD", {}),
    ],
)
def test_who_comes_before_a_reader_does_not_take_the_readers_place(
    client: Client, runtime: Runtime, method: str, headers: dict[str, str]
) -> None:
    target = f"/hits/{SITE}/pixel?path=/a&id={ID}"
    before = client.request(method, target, headers=headers)
    assert total(runtime)["hits"] == 0

    seen = client.get(target)

    assert before.status == seen.status == 200
    assert before.headers["Content-Type"] == seen.headers["Content-Type"] == "image/gif"
    assert (total(runtime)["hits"], total(runtime)["visitors"]) == (1, 1)


def test_a_browser_that_counts_nothing_gets_its_pixel(client: Client, runtime: Runtime) -> None:
    target = f"/hits/{SITE}/pixel?path=/a"
    seen = client.request("GET", target, headers={"Cookie": "plaza_uncounted=1"})

    assert (seen.status, seen.body) == (200, client.get(target).body)
    assert total(runtime)["hits"] == 1
