"""Explanations of decisions: every candidate, and why it was chosen or passed over."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from chalicelib.ads.errors import ZoneChanged
from chalicelib.ads.ids import advertiser_of
from chalicelib.ads.inventory import zones
from chalicelib.ads.serving.caps import refusing_cap
from chalicelib.ads.serving.compiled_zone import Ad, CompiledZone, FrequencyCap
from chalicelib.ads.serving.decisions import Asked, seeded
from chalicelib.ads.serving.selection import Context, choose, explores, score
from chalicelib.ads.visitors import profile_reader
from chalicelib.ads.visitors.histories import LISTS, History, VisitorProfile
from chalicelib.database import Document
from chalicelib.ids import new_id
from chalicelib.runtime import Runtime


@dataclass(frozen=True)
class Replay:
    """Which decision to explain: its id, its time and the zone's version; None means now's."""

    seed: str | None = None
    at: datetime | None = None
    version: int | None = None


def explain(runtime: Runtime, asked: Asked, replay: Replay) -> Document:
    """Return a decision with its candidates; nothing is recorded.

    The `seed` (a decision's id), the time `at` and the zone's `version` of an explanation,
    fed back, give the same one. Raises UnknownZone, and ZoneChanged if the zone has another
    version now.
    """
    document = zones.get_with_ads(runtime.database, asked.site_id, asked.zone_id)
    if replay.version not in (None, document["version"]):
        raise ZoneChanged(f"The zone is at version {document['version']} now")
    at = replay.at or runtime.now()
    seed = replay.seed or new_id(at, runtime.random)
    zone = CompiledZone(document)
    profile = _profile(runtime, asked, zone)
    if replay.seed or replay.at:
        profile = as_of(profile, at, seed)
    context = asked.context(at, runtime.settings.explore_rate)
    return {
        "seed": seed,
        "at": at,
        "site_id": zone.site_id,
        "zone_id": zone.zone_id,
        "version": zone.version,
        "floor_ecpm_micros": zone.floor_ecpm_micros,
        **account(zone, [row["keywords"] for row in document["ads"]], context, profile, seed),
    }


def _profile(runtime: Runtime, asked: Asked, zone: CompiledZone) -> VisitorProfile:
    if asked.visitor is None:
        return VisitorProfile()
    profiles = profile_reader.undecoded(runtime.database)
    return profile_reader.read(profiles, asked.visitor, zone.advertisers)


def as_of(profile: VisitorProfile, at: datetime, decision: str) -> VisitorProfile:
    """Return the profile without what a decision itself recorded, and without what came later."""

    def earlier(history: History) -> History:
        kept: History = {}
        for name in LISTS.values():
            events = history.get(name, ())
            kept[name] = [e for e in events if e["ts"] <= at and e["decision"] != decision]
        return kept

    histories = {name: earlier(history) for name, history in profile.histories.items()}
    return VisitorProfile(profile.revision, histories, profile.advertiser_count)


def account(
    zone: CompiledZone,
    keywords: Sequence[Sequence[str]],
    context: Context,
    profile: VisitorProfile,
    seed: str,
) -> Document:
    """Return {explored, ads, candidates}, the best candidates first; a pure function.

    `keywords` are those of the zone's ads, in their order. A candidate is {campaign_id,
    ad_unit_id, ecpm_micros, matches, score, verdict} and, if a cap refused it, its `cap`.
    """
    chosen = choose(zone, context, lambda _: profile, seeded(seed))
    scored = [
        (ad, len(set(context.keywords).intersection(words)))
        for ad, words in zip(zone.ads, keywords, strict=True)
    ]
    candidates = [
        {
            **_name(ad),
            "ecpm_micros": ad.ecpm_micros,
            "matches": matches,
            "score": score(ad.ecpm_micros, matches),
            **_verdict(ad, zone, context, profile, chosen),
        }
        for ad, matches in scored
    ]
    return {
        "explored": explores(zone, context, seeded(seed)),
        "ads": [_name(ad) for ad in chosen],
        "candidates": sorted(candidates, key=lambda each: -each["score"]),
    }


def _name(ad: Ad) -> Document:
    return {"campaign_id": ad.campaign_id, "ad_unit_id": ad.ad_unit_id}


def _verdict(
    ad: Ad, zone: CompiledZone, context: Context, profile: VisitorProfile, chosen: list[Ad]
) -> Document:
    cap = refusing_cap(ad, profile, context.now)
    campaigns = () if context.repeat else [other.campaign_id for other in chosen]
    if ad in chosen:
        verdict = "chosen"
    elif ad.ecpm_micros < zone.floor_ecpm_micros:
        verdict = "below_floor"
    elif context.now < ad.start:
        verdict = "not_started"
    elif context.now >= ad.end:
        verdict = "ended"
    elif cap:
        return {"verdict": "capped", "cap": _shown(cap)}
    else:
        verdict = "campaign_chosen" if ad.campaign_id in campaigns else "outranked"
    return {"verdict": verdict}


def _shown(cap: FrequencyCap) -> Document:
    window_seconds = int(cap.window.total_seconds())
    fields = {"scope": cap.scope, "event": cap.event, "limit": cap.limit}
    return {**fields, "window_seconds": window_seconds}


def own_rows(explanation: Document, advertiser: str) -> Document:
    """Return an explanation with the rows of one advertiser's campaigns alone."""

    def own(rows: list[Document]) -> Iterator[Document]:
        return (row for row in rows if advertiser_of(row["campaign_id"]) == advertiser)

    return {
        **explanation,
        "ads": list(own(explanation["ads"])),
        "candidates": list(own(explanation["candidates"])),
    }
