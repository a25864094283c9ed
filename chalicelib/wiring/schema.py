"""Every collection of Plaza in one list, for the migration."""

from typing import Any

from chalicelib import limits
from chalicelib.ads import accounts
from chalicelib.ads.billing import settlements, transfers
from chalicelib.ads.budgets import leases, ledger
from chalicelib.ads.inventory import campaigns, click_rates, creatives, former, waiting, zones
from chalicelib.ads.reports import counters, progress
from chalicelib.ads.tracking import conversion_keys, events
from chalicelib.ads.visitors import profiles
from chalicelib.analytics import schema as analytics
from chalicelib.assets import shapes as assets
from chalicelib.comments import nodes, seen
from chalicelib.comments.entries import rows as entry_rows
from chalicelib.comments.importing import rows as import_rows
from chalicelib.comments.latest import discussed
from chalicelib.comments.log import rows as comment_log
from chalicelib.comments.moderation import queue
from chalicelib.comments.people import links
from chalicelib.comments.people import rows as comment_people
from chalicelib.comments.sites import search_changes
from chalicelib.comments.sites import settings as comment_settings
from chalicelib.comments.spam_check import origins
from chalicelib.comments.stores import buckets, documents, promotion
from chalicelib.comments.terms import rows as comment_terms
from chalicelib.comments.transfers import rows as transfer_rows
from chalicelib.comments.watches import WATCHES
from chalicelib.content import nodes as content_nodes
from chalicelib.content import rendered as content_rendered
from chalicelib.content import settings as content_settings
from chalicelib.content import tag_counts
from chalicelib.content import terms as content_terms
from chalicelib.content.editing import revisions
from chalicelib.content.publishing import addresses
from chalicelib.database import Collection, Family
from chalicelib.http import idempotency
from chalicelib.jobs import outbox
from chalicelib.mail import rows as mail
from chalicelib.marks import shapes as marks
from chalicelib.notifications import mailing as notification_mail
from chalicelib.notifications import push_rows as notification_push
from chalicelib.notifications import rows as notifications
from chalicelib.people import blocks
from chalicelib.settings import Settings
from chalicelib.shop import settings as shop_settings
from chalicelib.shop.carts import shapes as carts
from chalicelib.shop.catalogue import rows as products
from chalicelib.shop.catalogue import skus
from chalicelib.shop.categories import messages as shop_messages
from chalicelib.shop.categories import rows as trees
from chalicelib.shop.orders import reconciliation
from chalicelib.shop.orders import shapes as orders
from chalicelib.shop.payments import fake, records
from chalicelib.shop.stock import shapes as stock
from chalicelib.sites import issuers, settings
from chalicelib.social.activity import refs
from chalicelib.social.activity.actions import actions
from chalicelib.social.activity.actions import events as action_events
from chalicelib.social.activity.feed import items
from chalicelib.social.activity.org import people
from chalicelib.social.graph import users
from chalicelib.social.graph import watches as author_watches
from chalicelib.social.graph.stores import edges
from chalicelib.social.posts import audiences, posts, votes
from chalicelib.social.posts import comments as social_comments
from chalicelib.social.timelines import news, references, walls
from chalicelib.webhooks import rows as webhooks

COLLECTIONS: tuple[Collection[Any], ...] = (
    campaigns.CAMPAIGNS,
    creatives.CREATIVES,
    former.FORMER_PAGES,
    former.FORMER_MARKUP,
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
    settings.SITES,
    issuers.ISSUERS,
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
    entry_rows.ENTRIES,
    discussed.DISCUSSED,
    promotion.GENERATIONS,
    comment_settings.SITES,
    search_changes.SEARCH_CHANGES,
    comment_terms.TERMS,
    WATCHES,
    import_rows.IMPORTS,
    import_rows.THREADS,
    import_rows.STAGED,
    transfer_rows.TRANSFERS,
    comment_log.BATCHES,
    comment_log.LOG,
    comment_people.PEOPLE,
    seen.SEEN,
    origins.ORIGINS,
    links.CONFIRMATIONS,
    content_settings.SITES,
    content_nodes.NODES,
    tag_counts.TAG_COUNTS,
    content_terms.TERMS,
    content_rendered.RENDERED,
    revisions.REVISIONS,
    shop_settings.SITES,
    products.PRODUCTS,
    skus.SKUS,
    addresses.ADDRESSES,
    trees.TREES,
    trees.CATEGORIES,
    shop_messages.JOBS,
    stock.STOCKS,
    stock.HOLDS,
    stock.MOVEMENTS,
    carts.CARTS,
    orders.ORDERS,
    reconciliation.RECONCILIATIONS,
    records.PAYMENTS,
    fake.FAKE_PAYMENTS,
    blocks.BLOCKS,
    notifications.ITEMS,
    notifications.INBOXES,
    notification_mail.MAILINGS,
    notification_push.SUBSCRIPTIONS,
    webhooks.HOOKS,
    webhooks.DELIVERIES,
    webhooks.TOLD,
    users.USERS,
    posts.POSTS,
    social_comments.OLDER_COMMENTS,
    walls.WALLS,
    news.NEWS,
    references.NEWS_ITEMS,
    edges.EDGES,
    author_watches.AUTHOR_WATCHES,
    audiences.AUDIENCES,
    votes.VOTES,
    outbox.JOBS,
    marks.MARKS,
    actions.ACTIONS,
    action_events.EVENTS,
    items.ITEMS,
    people.PEOPLE,
    people.PLACES,
    refs.REFS,
    assets.ASSETS,
    assets.UPLOADS,
    assets.WASTE,
    assets.LIBRARIES,
    assets.FILES,
    assets.CHUNKS,
    mail.LETTERS,
    mail.REFUSALS,
    limits.LIMITS,
    idempotency.KEYS,
    *analytics.COLLECTIONS,
)
FAMILIES: tuple[Family[Any], ...] = analytics.FAMILIES


def collections(settings: Settings) -> list[Collection[Any]]:
    """Return all collections; the capped log has the size in the deployment's settings."""
    return [analytics.set_size(each, settings.hit_capped_bytes) for each in COLLECTIONS]
