"""Every collection of Plaza with its indexes and shard key, in one list."""

from chalicelib.comments import nodes
from chalicelib.comments.stores import documents
from chalicelib.database import Collection

COLLECTIONS: tuple[Collection, ...] = (
    nodes.NODES,
    documents.COMMENTS,
)
