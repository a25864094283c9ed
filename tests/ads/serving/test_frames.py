"""HTML creatives: a signed address in place of markup, and a document that isolates itself."""

import base64
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from app import create_app
from chalicelib.ads.campaigns import removal
from chalicelib.ads.errors import InvalidToken
from chalicelib.ads.inventory import creatives, former
from chalicelib.ads.inventory.creatives import StoredNative
from chalicelib.ads.serving import frames
from chalicelib.ads.serving.cache import ZoneCache
from chalicelib.ads.serving.decisions import AdRequest, answer, decide
from chalicelib.errors import Misconfigured
from chalicelib.runtime import Runtime
from chalicelib.settings import Settings
from tests.ads.support.factories import activate, ad_unit, add_zones, html, put_campaign
from tests.support.clock import START, Clock
from tests.support.http_client import Client, Reply

SPRING, SUMMER = "mercedes:spring", "bmw:summer"
EVIL = "<img src=x onerror=alert(1)><script>alert(document.cookie)</script>"
LARGE = EVIL + "é" * 2_000
BROWSER = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8", "Sec-Fetch-Dest": "iframe"}


def add(runtime: Runtime, markup: str = EVIL, **changes: Any) -> None:
    add_zones(runtime, "blog/banner", **changes)
    put_campaign(runtime, SPRING, ad_units=[ad_unit(creative=html(markup))])
    activate(runtime, SPRING)


def sign_url(client: Client) -> list[Any]:
    return [ad["creative"] for ad in client.get("/ads/blog/banner").json["ads"]]


def frame(client: Client, url: str, headers: dict[str, str] | None = None) -> Reply:
    return client.request("GET", url, headers=headers)


@pytest.mark.parametrize("markup", [EVIL, LARGE], ids=["in its row", "apart"])
def test_a_decision_gives_a_frame_s_address_and_no_markup(
    runtime: Runtime, client: Client, markup: str
) -> None:
    add(runtime, markup)

    reply = client.get("/ads/blog/banner")

    (creative,) = [ad["creative"] for ad in reply.json["ads"]]
    assert set(creative) == {"type", "landing_url", "frame_url"}
    assert b"onerror" not in reply.body
    assert frame(client, creative["frame_url"], BROWSER).body.decode() == markup


@pytest.mark.parametrize("accept", [None, "*/*", "application/json", "image/avif", ""])
def test_a_frame_is_a_sandboxed_page_whatever_is_asked_for(
    runtime: Runtime, client: Client, accept: str | None
) -> None:
    add(runtime)
    (creative,) = sign_url(client)

    reply = frame(client, creative["frame_url"], None if accept is None else {"Accept": accept})

    assert reply.status == 200
    assert reply.headers["Content-Type"] == "text/html; charset=utf-8"
    directives = dict(
        each.strip().partition(" ")[::2]
        for each in reply.headers["Content-Security-Policy"].split(";")
    )
    allowed = set(directives["sandbox"].split())
    assert allowed == {"allow-scripts", "allow-popups", "allow-popups-to-escape-sandbox"}
    assert directives["object-src"] == directives["form-action"] == "'none'"
    assert reply.headers["X-Content-Type-Options"] == "nosniff"
    assert "Set-Cookie" not in reply.headers
    assert reply.headers["Cache-Control"].startswith("public, max-age=")


def test_a_frame_s_address_is_one_for_a_day_and_good_for_the_next(
    runtime: Runtime, client: Client, clock: Clock
) -> None:
    add(runtime)
    clock.advance(hours=-12)
    (first,) = sign_url(client)
    clock.advance(hours=24, milliseconds=-1)
    (last,) = sign_url(client)
    assert first == last
    kept = frame(client, last["frame_url"]).headers["Cache-Control"]
    assert kept == "public, max-age=86400, immutable"

    clock.advance(milliseconds=1)
    (other,) = sign_url(client)
    assert other != first
    clock.advance(hours=24, milliseconds=-1)
    assert frame(client, first["frame_url"]).status == 200
    clock.advance(milliseconds=1)
    assert frame(client, first["frame_url"]).code == "token_expired"


def test_the_two_containers_of_a_zone_give_out_one_address(
    runtime: Runtime, client: Client
) -> None:
    add(runtime)

    other = answer(runtime, decide(runtime, ZoneCache(runtime), AdRequest("blog", "banner")))

    assert other["ads"][0]["creative"] == sign_url(client)[0]


@pytest.mark.parametrize("markup", [EVIL, LARGE], ids=["in its row", "apart"])
@pytest.mark.parametrize("change", ["other markup", "other unit", "other kind", "deleted"])
def test_a_creative_that_was_changed_keeps_its_frame_until_its_address_expires(
    runtime: Runtime, client: Client, clock: Clock, markup: str, change: str
) -> None:
    add(runtime, markup)
    (creative,) = sign_url(client)
    unit = {
        "other markup": ad_unit(creative=html("<b>new</b>")),
        "other unit": ad_unit("two", creative=html("<b>new</b>")),
        "other kind": ad_unit(),
    }.get(change)

    if unit is None:
        removal.delete(runtime.database, SPRING, runtime.now())
    else:
        put_campaign(runtime, SPRING, ad_units=[unit])

    assert frame(client, creative["frame_url"], BROWSER).body.decode() == markup
    clock.advance(hours=36, milliseconds=-1)
    assert frame(client, creative["frame_url"], BROWSER).body.decode() == markup
    clock.advance(milliseconds=1)
    assert frame(client, creative["frame_url"]).code == "token_expired"
    assert sign_url(client) != [creative]


def test_markup_that_a_campaign_shows_again_has_one_frame(runtime: Runtime, client: Client) -> None:
    add(runtime)
    (creative,) = sign_url(client)
    for markup in ("<b>new</b>", EVIL, "<b>new</b>", EVIL):
        put_campaign(runtime, SPRING, ad_units=[ad_unit(creative=html(markup))])

        assert frame(client, creative["frame_url"]).body.decode() == EVIL
    assert sign_url(client) == [creative]


def test_a_draft_s_markup_is_kept_by_nothing(runtime: Runtime) -> None:
    add_zones(runtime, "blog/banner")
    put_campaign(runtime, SPRING, ad_units=[ad_unit(creative=html(LARGE))])
    put_campaign(runtime, SPRING, ad_units=[ad_unit(creative=html(EVIL))])
    removal.delete(runtime.database, SPRING, runtime.now())

    for collection in (former.FORMER_MARKUP, former.FORMER_PAGES, creatives.CREATIVES):
        assert collection.of(runtime.database).count_documents({}) == 0


def test_a_campaign_keeps_a_bounded_number_of_former_creatives(
    runtime: Runtime, client: Client, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(former, "MAX_MARKUP", 2)
    add(runtime, "0")
    addresses = []
    for number in range(4):
        addresses += [each["frame_url"] for each in sign_url(client)]
        clock.advance(seconds=1)
        units = [ad_unit(creative=html(str(number + 1)))]
        put_campaign(runtime, SPRING, ad_units=units)

    assert [frame(client, each).status for each in addresses] == [404, 404, 200, 200]


@pytest.mark.parametrize("text", ["", "x", "é", "%00", "a" * 512, "a" * 513, "..", "$where"])
def test_an_address_that_was_not_given_out_is_refused(client: Client, text: str) -> None:
    reply = client.get(f"/creatives/{text}")

    assert 400 <= reply.status < 500
    assert reply.headers["Content-Type"] == "application/problem+json"


@given(st.data())
def test_no_other_creative_can_be_named_by_an_altered_token(data: st.DataObject) -> None:
    keys = [SecretStr("the key of the frames of the tests")]
    settings = Settings(signing_keys=(SecretStr("k" * 32),))
    token = frames.sign_url(_runtime(settings), "a:b:c:" + "0" * 32, START).rpartition("/")[2]
    place = data.draw(st.integers(0, len(token) - 1))
    letter = data.draw(st.sampled_from("ABCabc019-_"))
    altered = token[:place] + letter + token[place + 1 :]

    with pytest.raises(InvalidToken):
        frames.verify(token, keys, START)
    if altered != token:
        with pytest.raises(InvalidToken):
            frames.verify(altered, settings.signing_keys, START)


def _runtime(settings: Settings) -> Runtime:
    import dataclasses

    return dataclasses.replace(Runtime.from_environment({}), settings=settings)


def test_an_impression_s_token_opens_no_frame(runtime: Runtime, client: Client) -> None:
    add(runtime)
    (ad,) = client.get("/ads/blog/banner").json["ads"]
    token = ad["impression_url"].rpartition("/")[2]

    assert client.get(f"/creatives/{token[: frames.MAX_CHARACTERS]}").code == "invalid_token"


def test_the_longest_names_fit_into_a_frame_s_address(runtime: Runtime) -> None:
    part = "x" * 64
    url = frames.sign_url(runtime, f"{part}:{part}:{part}:{'0' * 32}", START)

    assert len(url.rpartition("/")[2]) <= frames.MAX_CHARACTERS


def test_a_token_of_an_older_key_opens_its_frame() -> None:
    old, new = SecretStr("o" * 32), SecretStr("n" * 32)
    token = frames.sign_url(_runtime(Settings(signing_keys=(old,))), "a:b:c:d", START)

    found, until = frames.verify(token.rpartition("/")[2], [new, old], START)

    assert found == "a:b:c:d"
    assert until - START == timedelta(hours=36)


def test_without_a_key_no_address_is_given_out() -> None:
    with pytest.raises(Misconfigured):
        frames.sign_url(_runtime(Settings()), "a:b:c:d", START)


@pytest.mark.parametrize(
    ("changes", "base"),
    [
        ({}, ""),
        ({"public_url": "https://api.example/v1"}, "https://api.example/v1"),
        (
            {"public_url": "https://api.example", "frame_url": "https://frames.example"},
            "https://frames.example",
        ),
    ],
)
def test_frames_are_at_their_own_host_if_there_is_one(
    runtime: Runtime, changes: dict[str, str], base: str
) -> None:
    settled = _runtime(runtime.settings.model_copy(update=changes))

    assert frames.sign_url(settled, "a:b:c:d", START).startswith(f"{base}/creatives/")


def test_only_markup_has_a_frame(runtime: Runtime, client: Client) -> None:
    add_zones(runtime, "blog/banner")
    native: StoredNative = {
        "type": "native",
        "landing_url": "https://a.example/",
        "fields": {"a": "<b>"},
    }
    put_campaign(runtime, SUMMER, ad_units=[ad_unit(creative=native)])
    activate(runtime, SUMMER)
    (creative,) = sign_url(client)
    assert creative == native
    named = creatives.creative_id(SUMMER, "one", native)
    token = frames.sign_url(runtime, named, runtime.now()).rpartition("/")[2]

    assert client.get(f"/creatives/{token}").code == "unknown_creative"


def test_a_frame_is_text_to_the_gateway(runtime: Runtime) -> None:
    """With a list of binary types Chalice would encode it, or refuse it without `Accept`."""
    assert create_app(runtime).api.binary_types == []


def test_a_padded_token_is_another_address(runtime: Runtime) -> None:
    token = frames.sign_url(runtime, "a:b:c:dd", START).rpartition("/")[2]
    padded = token + "=" * (-len(token) % 4 or 4)
    assert base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))

    with pytest.raises(InvalidToken):
        frames.verify(padded, runtime.settings.signing_keys, START)
