"""Every collection of Plaza with its indexes and shard key, in one list."""

from chalicelib.ads import campaigns, creatives, zones
from chalicelib.comments import nodes
from chalicelib.comments.stores import documents
from chalicelib.database import Collection

COLLECTIONS: tuple[Collection, ...] = (
    campaigns.CAMPAIGNS,
    creatives.CREATIVES,
    zones.ZONES,
    nodes.NODES,
    documents.COMMENTS,
)
