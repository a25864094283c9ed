"""Fitting of rows into a zone: the publisher's rules, the advertiser's share, the zone's bound.

Pure functions over rows.
"""

from collections.abc import Iterable, Sequence
from typing import Annotated, Literal, NamedTuple, TypedDict, TypeVar

from chalicelib.ads.ids import advertiser_of
from chalicelib.ads.inventory.forms import MAX_LISTED_ADVERTISERS
from chalicelib.ads.inventory.rows import AdRow, BriefRow, Ranked, key
from chalicelib.database.validators import AtMost

# Rows of a zone; the largest has 3.2 kB, so all fit into MongoDB's 16 MiB a document.
MAX_ADS = 5_000
# One advertiser's share of a zone: 25 advertisers fill it.
MAX_ADS_OF_ADVERTISER = 200

# The reason why a row has no place in a targeted zone.
Reason = Literal[
    "unknown_zone",
    "advertiser_not_allowed",
    "html_not_allowed",
    "below_floor",
    "advertiser_share",
    "zone_full",
]


Listed = Annotated[list[str], AtMost(MAX_LISTED_ADVERTISERS)]
ZoneRow = AdRow | BriefRow
AnyRanked = TypeVar("AnyRanked", bound=Ranked)


class Rules(TypedDict):
    """A publisher's rules of a zone; `allowed_advertisers` None: all."""

    floor_ecpm_micros: int
    allow_html: bool
    allowed_advertisers: Listed | None
    blocked_advertisers: Listed


class Refused(NamedTuple):
    """A row without a place, and the reason."""

    row: ZoneRow
    reason: Reason


class Fitted(NamedTuple):
    """The newcomers that enter a zone, the newcomers that wait, and the rows that leave."""

    entering: Sequence[ZoneRow]
    waiting: list[Refused]
    leaving: list[Refused]


def refusal(zone: Rules, row: Ranked, creative_type: str) -> Reason | None:
    """Return the reason if a rule of the zone refuses a row, else None."""
    advertiser = advertiser_of(row["campaign_id"])
    allowed = zone["allowed_advertisers"]
    is_listed = allowed is None or advertiser in allowed
    if not is_listed or advertiser in zone["blocked_advertisers"]:
        return "advertiser_not_allowed"
    if creative_type == "html" and not zone["allow_html"]:
        return "html_not_allowed"
    return "below_floor" if row["ecpm_micros"] < zone["floor_ecpm_micros"] else None


def fit(
    newcomers: Sequence[ZoneRow],
    mine: Sequence[ZoneRow],
    tail: Sequence[ZoneRow],
    total: int,
) -> Fitted:
    """Fit one advertiser's newcomers into a zone, within the advertiser's and the zone's bounds.

    mine: all other rows of the advertiser in the zone.
    tail: the weakest rows of the zone; may overlap with `mine`.
    total: the number of the zone's rows without the newcomers.

    The rows with the least eCPM get no place; of rows with equal eCPM, the newcomers get none.
    """
    shared = rank(mine, newcomers)
    over_share = shared[MAX_ADS_OF_ADVERTISER:]
    leaving = [row for row, is_new in over_share if not is_new]
    entering = [row for row, is_new in shared[:MAX_ADS_OF_ADVERTISER] if is_new]
    gone = {key(row) for row in leaving}
    over = max(0, total - len(leaving) + len(entering) - MAX_ADS)
    rest = [row for row in tail if key(row) not in gone]
    weakest = rank(rest, entering)[-over:] if over else []
    turned_away = {key(row) for row, is_new in weakest if is_new}
    return Fitted(
        [row for row in entering if key(row) not in turned_away],
        [
            *(Refused(row, "advertiser_share") for row, is_new in over_share if is_new),
            *(Refused(row, "zone_full") for row, is_new in weakest if is_new),
        ],
        [
            *(Refused(row, "advertiser_share") for row in leaving),
            *(Refused(row, "zone_full") for row, is_new in weakest if not is_new),
        ],
    )


def rank(rows: Iterable[AnyRanked], newcomers: Iterable[AnyRanked]) -> list[tuple[AnyRanked, bool]]:
    """Return (row, is newcomer) by descending eCPM; at equal eCPM newcomers last, then by ids."""
    both = [(row, False) for row in rows] + [(row, True) for row in newcomers]
    return sorted(both, key=lambda each: (-each[0]["ecpm_micros"], each[1], *key(each[0])))
