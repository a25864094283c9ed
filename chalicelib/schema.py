"""Every collection of Plaza with its indexes and shard key, in one list."""

from typing import Any

from chalicelib import limits
from chalicelib.ads import accounts
from chalicelib.ads.billing import revenue_shares, settlements, transfers
from chalicelib.ads.budgets import leases, ledger
from chalicelib.ads.inventory import campaigns, click_rates, creatives, waiting, zones
from chalicelib.ads.reports import counters, progress
from chalicelib.ads.tracking import conversion_keys, events
from chalicelib.ads.visitors import profiles
from chalicelib.comments import nodes
from chalicelib.comments.moderation import queue
from chalicelib.comments.stores import buckets, documents, promotion
from chalicelib.database import Collection
from chalicelib.http import idempotency
from chalicelib.social import outbox
from chalicelib.social.activity import refs
from chalicelib.social.activity.actions import actions
from chalicelib.social.activity.actions import events as action_events
from chalicelib.social.activity.feed import items
from chalicelib.social.activity.org import people
from chalicelib.social.graph import users
from chalicelib.social.graph.stores import edges
from chalicelib.social.posts import audiences, posts
from chalicelib.social.posts import comments as social_comments
from chalicelib.social.timelines import news, references, walls

COLLECTIONS: tuple[Collection[Any], ...] = (
    campaigns.CAMPAIGNS,
    creatives.CREATIVES,
    zones.ZONES,
    waiting.WAITING,
    click_rates.AD_COUNTS,
    profiles.PROFILES,
    accounts.ACCOUNTS,
    transfers.TRANSFERS,
    leases.LEASES,
    ledger.LEDGER,
    events.EVENTS,
    conversion_keys.CONVERSION_KEYS,
    revenue_shares.SITES,
    counters.HOURS,
    counters.DAYS,
    counters.WEEKS,
    counters.MONTHS,
    counters.YEARS,
    progress.PROGRESS,
    settlements.SETTLEMENTS,
    nodes.NODES,
    documents.COMMENTS,
    buckets.PAGES,
    queue.PENDING,
    promotion.GENERATIONS,
    users.USERS,
    posts.POSTS,
    social_comments.OLDER_COMMENTS,
    walls.WALLS,
    news.NEWS,
    references.NEWS_ITEMS,
    edges.EDGES,
    audiences.AUDIENCES,
    outbox.JOBS,
    actions.ACTIONS,
    action_events.EVENTS,
    items.ITEMS,
    people.PEOPLE,
    people.PLACES,
    refs.REFS,
    limits.LIMITS,
    idempotency.KEYS,
)
