"""Explanations of decisions: every candidate, with the reason of its choice or refusal."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from chalicelib.ads.errors import ZoneChanged
from chalicelib.ads.ids import advertiser_of
from chalicelib.ads.inventory import zones
from chalicelib.ads.serving.compiled_zone import Ad, CompiledZone, FrequencyCap
from chalicelib.ads.serving.decisions import AdRequest, seed_rng
from chalicelib.ads.serving.forms import (
    AdName,
    CandidateAnswer,
    Choice,
    ExplanationAnswer,
    RefusingCap,
    Verdict,
)
from chalicelib.ads.serving.selection import Context, choose, explores, refusing_cap, score
from chalicelib.ads.visitors import histories, profiles
from chalicelib.ads.visitors.histories import LISTS, History, VisitorProfile
from chalicelib.ids import new_id
from chalicelib.runtime import Runtime


@dataclass(frozen=True)
class Replay:
    """The decision to explain; None: a new id, the present time, the zone's present version."""

    decision_id: str | None = None
    at: datetime | None = None
    version: int | None = None


def explain(runtime: Runtime, asked: AdRequest, replay: Replay) -> ExplanationAnswer:
    """Return a decision with its candidates; records nothing.

    The same id, time and zone `version` give the same explanation again. Raises UnknownZone, and
    ZoneChanged if the zone has another version now.
    """
    document = zones.get_with_ads(runtime.database, asked.site_id, asked.zone_id)
    if replay.version not in (None, document["version"]):
        raise ZoneChanged(f"The zone is at version {document['version']} now")
    at = replay.at or runtime.now()
    decision_id = replay.decision_id or new_id(at, runtime.random)
    zone = CompiledZone(document)
    profile = _profile(runtime, asked, zone)
    if replay.decision_id or replay.at:
        profile = as_of(profile, at, decision_id)
    context = asked.context(at, runtime.settings.explore_rate)
    keywords = [row["keywords"] for row in document["ads"]]
    return {
        "decision_id": decision_id,
        "decided_at": at,
        "site_id": zone.site_id,
        "zone_id": zone.zone_id,
        "version": zone.version,
        "floor_ecpm_micros": zone.floor_ecpm_micros,
        **choice_of(zone, keywords, context, profile, decision_id),
    }


def _profile(runtime: Runtime, asked: AdRequest, zone: CompiledZone) -> VisitorProfile:
    if asked.visitor is None:
        return VisitorProfile()
    undecoded = profiles.raw_profiles(runtime.database)
    return histories.read(undecoded, asked.visitor, zone.advertisers)


def as_of(profile: VisitorProfile, at: datetime, decision: str) -> VisitorProfile:
    """Return the profile without a decision's own events, and without later events."""

    def earlier(history: History) -> History:
        kept: History = {}
        for name in LISTS.values():
            events = history.get(name, ())
            kept[name] = [e for e in events if e["ts"] <= at and e["decision"] != decision]
        return kept

    histories = {name: earlier(history) for name, history in profile.histories.items()}
    return VisitorProfile(profile.revision, histories, profile.advertiser_count)


def choice_of(
    zone: CompiledZone,
    keywords: Sequence[Sequence[str]],
    context: Context,
    profile: VisitorProfile,
    seed: str,
) -> Choice:
    """Return the chosen ads and the candidates, the best first; a pure function.

    `keywords`: the keywords of each of the zone's ads, in the ads' order.
    """
    chosen = choose(zone, context, lambda _: profile, seed_rng(seed))
    scored = [
        (ad, len(set(context.keywords).intersection(words)))
        for ad, words in zip(zone.ads, keywords, strict=True)
    ]
    candidates = [
        _candidate(ad, matches, _judge(ad, zone, context, profile, chosen))
        for ad, matches in scored
    ]
    return {
        "is_exploration": explores(zone, context, seed_rng(seed)),
        "ads": [_name(ad) for ad in chosen],
        "candidates": sorted(candidates, key=lambda each: -each["score"]),
    }


def _name(ad: Ad) -> AdName:
    return {"campaign_id": ad.campaign_id, "ad_unit_id": ad.ad_unit_id}


def _candidate(ad: Ad, matches: int, judged: Verdict | FrequencyCap) -> CandidateAnswer:
    candidate: CandidateAnswer = {
        "campaign_id": ad.campaign_id,
        "ad_unit_id": ad.ad_unit_id,
        "ecpm_micros": ad.ecpm_micros,
        "matches": matches,
        "score": score(ad.ecpm_micros, matches),
        "verdict": "capped",
    }
    if isinstance(judged, FrequencyCap):
        candidate["cap"] = _to_refusing_cap(judged)
    else:
        candidate["verdict"] = judged
    return candidate


def _judge(
    ad: Ad, zone: CompiledZone, context: Context, profile: VisitorProfile, chosen: list[Ad]
) -> Verdict | FrequencyCap:
    """Return the verdict on an ad, or the cap that refused it."""
    if ad in chosen:
        return "chosen"
    if ad.ecpm_micros < zone.floor_ecpm_micros:
        return "below_floor"
    if not ad.start <= context.now < ad.end:
        return "not_started" if context.now < ad.start else "ended"
    if cap := refusing_cap(ad, profile, context.now):
        return cap
    campaigns = () if context.repeat else [other.campaign_id for other in chosen]
    if ad.campaign_id in campaigns:
        return "campaign_chosen"
    return refusing_cap(ad, profile, context.now, chosen) or "outranked"


def _to_refusing_cap(cap: FrequencyCap) -> RefusingCap:
    return {
        "scope": cap.scope,
        "event": cap.event,
        "limit": cap.limit,
        "window_seconds": int(cap.window.total_seconds()),
    }


def own_rows(explanation: ExplanationAnswer, advertiser: str) -> ExplanationAnswer:
    """Return an explanation with only one advertiser's ads and candidates."""

    def is_own(row: AdName) -> bool:
        return advertiser_of(row["campaign_id"]) == advertiser

    return {
        **explanation,
        "ads": [row for row in explanation["ads"] if is_own(row)],
        "candidates": [row for row in explanation["candidates"] if is_own(row)],
    }
