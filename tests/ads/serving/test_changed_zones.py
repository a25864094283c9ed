"""A compiled zone that takes over a change equals one that is compiled as a whole."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from bson import ObjectId
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.ads.inventory.rows import AdRow
from chalicelib.ads.inventory.zones import ServedZone
from chalicelib.ads.serving.compiled_zone import CompiledZone
from tests.ads.serving.support.zones import HOUR, cap, compiled, row, zone_document
from tests.support.clock import START

CAMPAIGNS = [f"{advertiser}:{name}" for advertiser in "abc" for name in ("x", "y")]
WORDS = ["one", "two", "three"]

a_row = st.builds(
    lambda campaign, unit, price, words, is_cpc, is_capped, hours: row(
        f"{campaign}/{unit}",
        price,
        keywords=words,
        pricing={"type": "cpc" if is_cpc else "cpm", "bid_micros": 1_000},
        caps=[cap()] if is_capped else [],
        end=START + hours * HOUR,
    ),
    st.sampled_from(CAMPAIGNS),
    st.sampled_from("uvw"),
    st.integers(1, 4),
    st.lists(st.sampled_from(WORDS), unique=True),
    st.booleans(),
    st.booleans(),
    st.integers(1, 3),
)
rows = st.lists(
    a_row, max_size=12, unique_by=lambda each: (each["campaign_id"], each["ad_unit_id"])
)


def seen(zone: CompiledZone, now: datetime = START) -> dict[str, Any]:
    """All that a caller sees of a zone."""
    return {
        "ads": zone.ads,
        "version": zone.version,
        "floor": zone.floor_ecpm_micros,
        "counts_decisions": zone.counts_decisions,
        "allows_html": zone.allows_html,
        "advertisers": zone.advertisers,
        "has_cpc": zone.has_cpc,
        "showable": [zone.showable(now + hours * HOUR) for hours in range(4)],
        "keywords": [zone.with_keyword(word) for word in WORDS],
        "groups": [zone.best_group(1 << place) for place in range(len(zone.ads))],
    }


def change(document: ServedZone, campaigns: Iterable[str]) -> ServedZone:
    """The document as it is read for these campaigns alone."""
    named = set(campaigns)
    return {**document, "ads": [each for each in document["ads"] if each["campaign_id"] in named]}


@given(rows, rows, st.integers(0, 3), st.booleans())
def test_a_change_gives_what_a_whole_compilation_gives(
    before: list[AdRow],
    wanted: list[AdRow],
    floor: int,
    allow_html: bool,  # noqa: FBT001
) -> None:
    campaigns = CAMPAIGNS[:3]
    stay = [each for each in before if each["campaign_id"] not in campaigns]
    come = [each for each in wanted if each["campaign_id"] in campaigns]
    after: ServedZone = {
        **zone_document(*stay, *come, floor_ecpm_micros=floor),
        "version": 2,
        "allow_html": allow_html,
        "count_on": "decision",
    }
    held = compiled(*before)
    was = seen(held)

    changed = held.replace_rows(change(after, campaigns), campaigns)

    assert changed is not None
    assert seen(changed) == seen(CompiledZone(after))
    assert seen(held) == was


def test_one_campaign_comes_and_goes_among_many() -> None:
    rest = [row(f"b{n}:spring/{unit}", n * 10, keywords=WORDS) for n in range(30) for unit in "uv"]
    toggled = [row(f"a:spring/{unit}", 155, keywords=["one", unit]) for unit in "uvw"]
    zone: CompiledZone | None = compiled(*rest)

    for version in range(2, 12):
        ads = [*rest, *toggled] if version % 2 else rest
        after: ServedZone = {**zone_document(*ads), "version": version}
        assert zone is not None
        zone = zone.replace_rows(change(after, ["a:spring"]), ["a:spring"])
        assert zone is not None
        assert seen(zone) == seen(CompiledZone(after))


def test_a_zone_of_the_same_version_stays_the_same_one() -> None:
    zone = compiled(row("a:x/u"))

    assert zone.replace_rows({**zone_document(), "ads": []}, []) is zone


def test_another_zone_by_the_same_name_takes_a_whole_compilation() -> None:
    zone = compiled(row("a:x/u"))

    assert zone.replace_rows({**zone_document(), "_id": ObjectId()}, []) is None


def test_a_change_of_campaigns_unknown_takes_a_whole_compilation() -> None:
    assert compiled(row("a:x/u")).replace_rows({**zone_document(), "version": 2}, None) is None


def test_a_change_that_moves_too_much_takes_a_whole_compilation() -> None:
    zone = compiled(*[row(f"b:x/u{n}", n, keywords=[f"word-{n}"]) for n in range(1, 9)])
    new = [row(f"a:x/u{n}", n, keywords=[]) for n in range(1, 9)]
    after: ServedZone = {**zone_document(*new), "version": 2}

    assert zone.replace_rows(after, ["a:x"], max_moves=64) is not None
    assert zone.replace_rows(after, ["a:x"], max_moves=63) is None
