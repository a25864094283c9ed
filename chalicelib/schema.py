"""Every collection of Plaza with its indexes and shard key, in one list."""

from chalicelib.ads import campaigns, creatives, zones
from chalicelib.comments import moderation, nodes, promotion
from chalicelib.comments.stores import buckets, documents
from chalicelib.database import Collection

COLLECTIONS: tuple[Collection, ...] = (
    campaigns.CAMPAIGNS,
    creatives.CREATIVES,
    zones.ZONES,
    nodes.NODES,
    documents.COMMENTS,
    buckets.PAGES,
    moderation.PENDING,
    promotion.GENERATIONS,
)
