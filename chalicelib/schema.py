"""Every collection of Plaza with its indexes and shard key, in one list."""

from chalicelib.database import Collection

COLLECTIONS: tuple[Collection, ...] = ()
