from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.ads.campaigns.lifecycle import deactivate
from chalicelib.ads.inventory.zones import ZONES, ServedZone
from chalicelib.ads.serving.compiled_zone import CompiledZone
from chalicelib.ads.serving.decisions import seed_rng
from chalicelib.ads.serving.explanations import choice_of
from chalicelib.ads.serving.selection import Context, choose
from chalicelib.runtime import Runtime
from tests.ads.serving.support.zones import (
    NOBODY,
    cap,
    contexts,
    inventories,
    profiles,
    reference,
    row,
    zone_document,
)
from tests.ads.support.events import ANN
from tests.ads.support.factories import activate, ad_unit, add_zones, advertiser, cpm, put_campaign
from tests.support.clock import START, Clock
from tests.support.http_client import Client

SPRING = "mercedes:spring"
SUMMER = "bmw:summer"
EXPLAIN = "/ads/blog/banner/explain"


def admin(client: Client) -> Client:
    return client.as_("root", roles=["admin"])


def explained(client: Client, query: str = "") -> dict[str, Any]:
    reply = admin(client).get(f"{EXPLAIN}?{query}")
    assert reply.status == 200, reply.body
    return dict(reply.json)


def verdicts(explanation: dict[str, Any]) -> dict[str, str]:
    return {
        f"{each['campaign_id']}/{each['ad_unit_id']}": each["verdict"]
        for each in explanation["candidates"]
    }


@pytest.fixture
def strict(runtime: Runtime) -> Runtime:
    add_zones(runtime, "blog/banner", count_on="decision")
    put_campaign(runtime, SPRING, ad_units=[ad_unit("a"), ad_unit("b", keywords=["car"])])
    put_campaign(runtime, SUMMER, pricing=cpm(3_000))
    put_campaign(runtime, "audi:cheap", pricing=cpm(1_000))
    early = {"starts_at": "2026-03-01T12:00:00.001Z", "ends_at": "2026-03-02T00:00:00Z"}
    put_campaign(runtime, "audi:early", flight=early)
    over = {"starts_at": "2026-03-01T00:00:00Z", "ends_at": "2026-03-01T13:00:00Z"}
    put_campaign(runtime, "audi:over", pricing=cpm(900_000), flight=over)
    activate(runtime, SPRING, SUMMER, "audi:cheap", "audi:early", "audi:over")
    # A row below the floor is one that a release placed which did not look at floors.
    runtime.database[ZONES.name].update_one({}, {"$set": {"floor_ecpm_micros": 2_000}})
    return runtime


@pytest.mark.usefixtures("strict")
def test_an_admin_may_name_a_visitor_whose_signing_key_has_gone(client: Client) -> None:
    client.get(f"/ads/blog/banner?visitor={ANN}&keywords=boat")
    visitor, tag = ANN.split(".")
    by_another_key = f"{visitor}.{'B' if tag[0] != 'B' else 'C'}{tag[1:]}"

    explanation = explained(client, f"visitor={by_another_key}&keywords=car")

    assert verdicts(explanation)["audi:over/one"] == "capped"


@pytest.mark.usefixtures("strict")
def test_every_candidate_has_its_score_and_the_reason_it_was_passed_over(
    client: Client, clock: Clock
) -> None:
    first = client.get(f"/ads/blog/banner?visitor={ANN}&keywords=boat").json["ads"]
    assert [ad["campaign_id"] for ad in first] == ["audi:over"]
    explanation = explained(client, f"visitor={ANN}&keywords=car")

    assert verdicts(explanation) == {
        "audi:over/one": "capped",
        "mercedes:spring/b": "chosen",
        "mercedes:spring/a": "campaign_chosen",
        "bmw:summer/one": "outranked",
        "audi:early/one": "not_started",
        "audi:cheap/one": "below_floor",
    }
    assert explanation["ads"] == [{"campaign_id": SPRING, "ad_unit_id": "b"}]
    best = explanation["candidates"][0]
    assert (best["matches"], best["ecpm_micros"]) == (1, 250_000)
    assert best["score"] == pytest.approx(250_000 * 0.741937)
    (capped,) = [each for each in explanation["candidates"] if "cap" in each]
    assert capped["cap"] == {
        "scope": "ad",
        "event": "impression",
        "limit": 1,
        "window_seconds": 86_400,
    }

    clock.advance(hours=1)
    assert verdicts(explained(client))["audi:over/one"] == "ended"


@pytest.mark.usefixtures("strict")
def test_an_explanation_records_nothing(client: Client) -> None:
    for _ in range(2):
        assert verdicts(explained(client, f"visitor={ANN}"))["audi:over/one"] == "chosen"


def test_a_decision_that_was_made_is_explained_by_its_id_and_time(
    runtime: Runtime, client: Client, clock: Clock
) -> None:
    add_zones(runtime, "blog/banner", count_on="decision")
    for number in range(30):
        put_campaign(runtime, f"x{number}:spring")
        activate(runtime, f"x{number}:spring")
    for _ in range(5):
        at = clock().isoformat(timespec="milliseconds").replace("+00:00", "Z")
        made = client.get(f"/ads/blog/banner?visitor={ANN}&count=3").json
        clock.advance(milliseconds=1)
        # What is shown later does not change what is explained.
        client.get(f"/ads/blog/banner?visitor={ANN}&count=3")

        explanation = explained(
            client, f"visitor={ANN}&count=3&decision_id={made['id']}&decided_at={at}"
        )

        assert [ad["campaign_id"] for ad in explanation["ads"]] == [
            ad["campaign_id"] for ad in made["ads"]
        ]
        clock.advance(milliseconds=1)


@pytest.mark.usefixtures("strict")
def test_an_explanation_fed_back_gives_itself(client: Client) -> None:
    first = explained(client, f"visitor={ANN}&count=2")

    again = explained(
        client,
        f"visitor={ANN}&count=2&decision_id={first['decision_id']}&decided_at={first['decided_at']}&version={first['version']}",
    )

    assert again == first


def test_a_zone_that_has_changed_since_is_a_conflict(strict: Runtime, client: Client) -> None:
    version = explained(client)["version"]
    deactivate(strict.database, SUMMER)

    reply = admin(client).get(f"{EXPLAIN}?version={version}")

    assert (reply.status, reply.code) == (409, "zone_changed")
    assert reply.json["detail"] == f"The zone is at version {version + 1} now"


@pytest.mark.usefixtures("strict")
def test_an_advertiser_sees_the_rows_of_its_own_campaigns_alone(client: Client) -> None:
    reply = advertiser(client, "bmw").get(EXPLAIN)

    assert verdicts(reply.json) == {"bmw:summer/one": "outranked"}
    assert reply.json["ads"] == []
    assert list(verdicts(advertiser(client, "audi").get(EXPLAIN).json)) == [
        "audi:over/one",
        "audi:early/one",
        "audi:cheap/one",
    ]
    assert client.as_("ann", roles=["advertiser"]).get(EXPLAIN).json["candidates"] == []


@pytest.mark.usefixtures("strict")
def test_a_publisher_sees_every_candidate_of_their_own_zone(client: Client) -> None:
    publisher = client.as_("pat", roles=["publisher"], sites=["blog"])

    assert verdicts(publisher.get(EXPLAIN).json) == verdicts(explained(client))

    # Who also advertises is an advertiser on the sites of others.
    both = {"roles": ["publisher", "advertiser"], "advertiser": "bmw"}
    assert verdicts(client.as_("pia", sites=["news"], **both).get(EXPLAIN).json) == {
        "bmw:summer/one": "outranked"
    }


@pytest.mark.usefixtures("strict")
def test_strangers_get_no_explanation(client: Client) -> None:
    assert client.get(EXPLAIN).code == "unauthenticated"
    assert client.as_("ann").get(EXPLAIN).code == "forbidden"
    assert client.as_("pat", roles=["publisher"], sites=["news"]).get(EXPLAIN).code == "forbidden"
    assert admin(client).get("/ads/blog/none/explain").code == "unknown_zone"
    for query in (
        "decision_id=x",
        "decision_id=$ne",
        "version=0",
        "decided_at=yesterday",
        "consent=true",
    ):
        assert admin(client).get(f"{EXPLAIN}?{query}").code == "invalid_request"


@given(st.data(), inventories, contexts, st.text(min_size=16, max_size=16))
def test_the_account_is_of_the_choice_itself_and_replays(
    data: st.DataObject, inventory: ServedZone, context: Context, seed: str
) -> None:
    visitor = data.draw(profiles(inventory))
    zone = CompiledZone(inventory)
    keywords = [ad["keywords"] for ad in inventory["ads"]]

    explained = choice_of(zone, keywords, context, visitor, seed)

    ads = choose(CompiledZone(inventory), context, lambda _: visitor, seed_rng(seed))
    assert [ad["ad_unit_id"] for ad in explained["ads"]] == [ad.ad_unit_id for ad in ads]
    assert choice_of(zone, keywords, context, visitor, seed) == explained
    units = {ad.ad_unit_id for ad in ads}
    taken = [each for each in inventory["ads"] if each["ad_unit_id"] in units]
    seen, beside = (
        {
            ad["ad_unit_id"]: score
            for score, ad in reference(inventory, context.keywords, visitor, context.now, others)
        }
        for others in ((), taken)
    )
    for each in explained["candidates"]:
        # Only an ad left out has to pass beside the chosen ads.
        is_in = each["verdict"] in ("chosen", "campaign_chosen")
        passes = is_in or each["verdict"] == "outranked"
        assert passes == (each["ad_unit_id"] in (seen if is_in else beside))
        if passes:
            assert each["score"] == seen[each["ad_unit_id"]]


def test_an_ad_that_the_chosen_ads_keep_out_is_capped() -> None:
    caps = [cap("advertiser")]
    inventory = zone_document(*[row(f"x:{name}/{name}", caps=caps) for name in ("one", "two")])
    asked = Context(START, count=2)

    explained = choice_of(CompiledZone(inventory), [[], []], asked, NOBODY, "seed")

    first, second = sorted(explained["candidates"], key=lambda each: each["verdict"])
    assert (first["verdict"], second["verdict"]) == ("capped", "chosen")
    assert first["cap"]["scope"] == "advertiser"
