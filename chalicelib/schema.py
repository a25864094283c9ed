"""Every collection of Plaza with its indexes and shard key, in one list."""

from chalicelib.ads import (
    accounts,
    campaigns,
    counts,
    creatives,
    estimates,
    events,
    leases,
    ledger,
    rolling,
    settlements,
    sites,
    transfers,
    visitors,
    zones,
)
from chalicelib.comments import moderation, nodes, promotion
from chalicelib.comments.stores import buckets, documents
from chalicelib.database import Collection
from chalicelib.social import audiences, errands, news, news_items, posts, users, walls
from chalicelib.social import comments as social_comments
from chalicelib.social.activity import actions, items, naming, people
from chalicelib.social.activity import events as action_events
from chalicelib.social.graph_stores import edges

COLLECTIONS: tuple[Collection, ...] = (
    campaigns.CAMPAIGNS,
    creatives.CREATIVES,
    zones.ZONES,
    estimates.COUNTS,
    visitors.PROFILES,
    accounts.ACCOUNTS,
    transfers.TRANSFERS,
    leases.LEASES,
    ledger.LEDGER,
    events.EVENTS,
    sites.SITES,
    counts.HOURS,
    counts.DAYS,
    counts.WEEKS,
    counts.MONTHS,
    counts.YEARS,
    rolling.PROGRESS,
    settlements.SETTLEMENTS,
    nodes.NODES,
    documents.COMMENTS,
    buckets.PAGES,
    moderation.PENDING,
    promotion.GENERATIONS,
    users.USERS,
    posts.POSTS,
    social_comments.OLDER_COMMENTS,
    walls.WALLS,
    news.NEWS,
    news_items.NEWS_ITEMS,
    edges.EDGES,
    audiences.AUDIENCES,
    errands.ERRANDS,
    actions.ACTIONS,
    action_events.EVENTS,
    items.ITEMS,
    people.PEOPLE,
    people.PLACES,
    naming.REFS,
)
