"""Every collection of Plaza with its indexes and shard key, in one list."""

from chalicelib.ads import campaigns, creatives, zones
from chalicelib.comments import nodes
from chalicelib.comments.stores import documents
from chalicelib.database import Collection
from chalicelib.social import comments as social_comments
from chalicelib.social import news, posts, users, walls

COLLECTIONS: tuple[Collection, ...] = (
    campaigns.CAMPAIGNS,
    creatives.CREATIVES,
    zones.ZONES,
    nodes.NODES,
    documents.COMMENTS,
    users.USERS,
    posts.POSTS,
    social_comments.OLDER_COMMENTS,
    walls.WALLS,
    news.NEWS_ITEMS,
)
