"""MongoDB: the connection, declarations of collections, and their migration.

Public face: `migration`, `validators`.
"""

from chalicelib.database.connection import (
    DUPLICATE_KEY,
    OPERATION_TIMEOUT_MS,
    SERVER_SELECTION_TIMEOUT_MS,
    Collection,
    Document,
    Family,
    NotInserted,
    connect,
    delete_some,
    in_transaction,
    insert_missing,
    is_caused_by_data,
    is_outage,
    only_duplicates,
    open_database,
    prefix_range,
    upsert,
)

__all__ = [
    "DUPLICATE_KEY",
    "OPERATION_TIMEOUT_MS",
    "SERVER_SELECTION_TIMEOUT_MS",
    "Collection",
    "Document",
    "Family",
    "NotInserted",
    "connect",
    "delete_some",
    "in_transaction",
    "insert_missing",
    "is_caused_by_data",
    "is_outage",
    "only_duplicates",
    "open_database",
    "prefix_range",
    "upsert",
]
