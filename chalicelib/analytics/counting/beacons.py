"""Beacons and pixels: a page's report becomes one message without an IP address."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from chalicelib import limits
from chalicelib.analytics import permissions
from chalicelib.analytics.counting.counting import HitCounter
from chalicelib.analytics.counting.forms import SentHit
from chalicelib.analytics.counting.reading import Read, ReadHit, read
from chalicelib.analytics.errors import OriginRefused
from chalicelib.analytics.hits import Dropped, Hits, Kind, PageHit
from chalicelib.analytics.reports.names import Pages
from chalicelib.analytics.settings import SiteAnalytics
from chalicelib.analytics.visitors import agents, sources
from chalicelib.analytics.visitors.salts import Salts
from chalicelib.errors import FieldError, InvalidRequest
from chalicelib.http import Request
from chalicelib.ids import new_id
from chalicelib.runtime import Runtime

COOKIE = "plaza_uncounted"
# Partitioned: each site that embeds Plaza has its own cookie, as in ads.
_ATTRIBUTES = "Path=/; Secure; HttpOnly; SameSite=None; Partitioned"
_YEAR_SECONDS = 31_536_000


@dataclass(frozen=True)
class Reported:
    """A beacon: its hits, its user, and the origin of its page; None: unknown."""

    request: Request
    site: str
    hits: Sequence[SentHit]
    user: str | None
    origin: str | None
    # The field of a hit's path in an error, with a place for the hit's number.
    field: str = "hits.{}.path"


class Beacons:
    """The receiver of beacons: one per container, with a memory of salts."""

    def __init__(self, runtime: Runtime, pages: Pages) -> None:
        self._runtime = runtime
        self._salts = Salts(runtime.database, runtime.random)
        self._counter = HitCounter(runtime, pages)

    def take(self, reported: Reported) -> int:
        """Send hits to the queue; return their number.

        0: the browser's cookie excludes its visits, or the browser loads the page ahead. If the
        queue refuses the hits, count them at once. Raises UnknownSite and OriginRefused; and
        InvalidRequest if no hit has a valid path, after the faults have counted.
        """
        now, headers = self._runtime.now(), reported.request.raw.headers
        site = permissions.recall(self._runtime, reported.site)
        if site["origins"] and reported.origin and reported.origin not in site["origins"]:
            raise OriginRefused
        if _is_uncounted(headers.get("cookie", "")) or reported.request.is_ahead:
            return 0
        found = read(reported.hits)
        message = self._message(reported, found, site, now)
        if not self._runtime.queues.send(message):
            self._counter.count([message])
        if not found.hits:
            fields = (reported.field.format(place) for place in found.dropped)
            raise InvalidRequest(errors=[_fault(each) for each in fields])
        return len(found.hits)

    def _message(self, reported: Reported, found: Read, site: SiteAnalytics, now: datetime) -> Hits:
        request = reported.request
        kind = agents.kind_of(request.user_agent)
        is_view, has_objected = kind == "view", agents.objects(request.raw.headers)
        return Hits(
            site=reported.site,
            kind=kind,
            hits=tuple(self._hit(reported, hit, now, kind) for hit in found.hits),
            device=agents.device_of(request.user_agent) if is_view else None,
            country=self._country(request) if is_view else None,
            user=reported.user if site["user_reports"] and not has_objected else None,
            dropped=self._collect_faults(found, now) if found.faults else None,
            taken_at=now,
        )

    def _country(self, request: Request) -> str | None:
        return agents.country_of(request.raw.headers, self._runtime.settings.cdn_proof)

    def _collect_faults(self, found: Read, now: datetime) -> Dropped:
        """Return a beacon's faults under its first hit id, so that a repeat counts once.

        Without a valid id, each repeat counts.
        """
        known = next((hit.id for hit in found.hits if hit.id), None)
        name = known or new_id(now, self._runtime.random)
        return Dropped(id=name, at=now, faults=dict(found.faults))

    def _hit(self, reported: Reported, hit: ReadHit, now: datetime, kind: Kind) -> PageHit:
        is_view = kind == "view"
        # A bot's hit has a new id, so that it does not replace a person's hit of the same page.
        known = None if kind == "bot" else hit.id
        ts = now - timedelta(milliseconds=hit.ago_ms)
        own_host = sources.host_of(reported.origin)
        return PageHit(
            id=known or new_id(now, self._runtime.random),
            ts=ts,
            path=hit.path,
            visitor=self._visitor(reported, ts) if is_view else None,
            ref=sources.referrer(hit.ref, own_host) if is_view else None,
            campaign=sources.campaign(hit.address) if is_view else None,
            node=hit.node,
            title=hit.title,
            network=self._network(reported, ts),
        )

    def _network(self, reported: Reported, ts: datetime) -> str:
        """Return the digest of the sender's network for the day of an instant."""
        raw, hops = reported.request.raw, self._runtime.settings.trusted_hops
        network = limits.source(raw.context, raw.headers, hops)
        return self._salts.network(reported.site, str(network), ts)

    def _visitor(self, reported: Reported, ts: datetime) -> str | None:
        """Return the visitor's digest for the day of an instant; None: the visitor objects."""
        request = reported.request
        headers, hops = request.raw.headers, self._runtime.settings.trusted_hops
        if agents.objects(headers):
            return None
        address = limits.address(request.raw.context, headers, hops)
        return self._salts.visitor(reported.site, str(address), request.user_agent or "", ts)


def _fault(field: str) -> FieldError:
    return FieldError(field, "value_error", "This is no path that a browser has")


def _is_uncounted(cookies: str) -> bool:
    return any(part.strip() == f"{COOKIE}=1" for part in cookies.split(";"))


def uncounted_cookie() -> str:
    """Return the Set-Cookie header that keeps a browser's visits out of counts, for a year."""
    return f"{COOKIE}=1; Max-Age={_YEAR_SECONDS}; {_ATTRIBUTES}"


def expired_cookie() -> str:
    """Return the Set-Cookie header that makes a browser's visits count again."""
    return f"{COOKIE}=; Max-Age=0; {_ATTRIBUTES}"
