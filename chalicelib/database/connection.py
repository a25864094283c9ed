"""The container's connection to MongoDB, and the declaration of a collection."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Generic, TypeVar, cast

import pymongo
from bson.codec_options import CodecOptions
from pymongo import IndexModel, MongoClient, ReadPreference, WriteConcern
from pymongo.client_session import ClientSession
from pymongo.collection import Collection as MongoCollection
from pymongo.command_cursor import CommandCursor
from pymongo.cursor import Cursor
from pymongo.database import Database
from pymongo.errors import (
    BulkWriteError,
    ConfigurationError,
    ConnectionFailure,
    DuplicateKeyError,
    OperationFailure,
    PyMongoError,
    WriteConcernError,
    WriteError,
)
from pymongo.read_concern import ReadConcern

from chalicelib.errors import ChangeTooLarge, Unavailable
from chalicelib.settings import Settings

Document = dict[str, Any]
Result = TypeVar("Result")
Shape = TypeVar("Shape", bound=Mapping[str, Any])
Projected = TypeVar("Projected", bound=Mapping[str, Any])

# Bounds an operation with all its retries, unless the invocation's own deadline is nearer
# (`observability/invocations.py`). Below the functions' time-out of 30 s, so that a function
# answers in an outage.
OPERATION_TIMEOUT_MS = 20_000
# Longer than an election, which usually ends within 12 s: a request waits for the new primary.
SERVER_SELECTION_TIMEOUT_MS = 15_000
# A running server accepts a connection far sooner. Also for the look-up of a cluster's servers by
# DNS (`mongodb+srv://`), with all its tries.
CONNECT_TIMEOUT_MS = 2_000
# Options of dnspython's resolver; `timeout` bounds each try, in seconds.
_LOOK_UPS = {"timeout": 0.4, "retry_servfail": True}
# PyMongo treats a refused connection as overload: until its next heartbeat it retries, with pauses
# that double from 0.1 s. The default of two retries (0.3 s) ends before the heartbeat notices a
# lost primary.
HEARTBEAT_MS = 2_000
CONNECTION_RETRIES = 8
# NAT gateways and AWS's load balancers silently drop connections that are idle for 350 s, as in a
# frozen container.
MAX_IDLE_MS = 300_000
# In place of the driver's default of 120 s.
TRANSACTION_TIMEOUT_SECONDS = 20
_TRANSACTION_TOO_LARGE = 388
_RETRYABLE = "RetryableWriteError"
# "Not primary" and "node is recovering", from the specification of the drivers ("Server Discovery
# and Monitoring").
_NOT_PRIMARY_CODES = frozenset({91, 189, 10107, 11600, 11602, 13435, 13436})
DUPLICATE_KEY = 11_000
# Pages and parts of jobs have at most 1,000 rows: each fits into a batch.
_BATCH_ROWS = 2_000
# Errors by the data of a command, in addition to write errors: bad value, failed to parse, type
# mismatch, failed validation, too large.
_DATA_CODES = frozenset({2, 9, 14, 121, 10_334, 17_419, DUPLICATE_KEY})


@dataclass(frozen=True)
class Collection(Generic[Shape]):
    """A collection: its name, with the indexes and the shard key that its queries rely on.

    `shape` is the TypedDict of its documents. It makes the server's validator, unless
    `is_validated` is False. Empty `shard_key`: not sharded. `options` are for its creation
    (`capped`, `timeseries`), and `family` is the name of its Family.
    """

    name: str
    shape: type[Shape]
    indexes: tuple[IndexModel, ...] = ()
    shard_key: Mapping[str, int | str] = field(default_factory=lambda: {"_id": 1})
    options: Mapping[str, Any] = field(default_factory=dict)
    is_validated: bool = True
    family: str | None = None

    def of(self, database: Database[Document]) -> MongoCollection[Shape]:
        """Return the collection in a database, typed by the shape of its documents."""
        # The server's validator enforces the shape.
        return cast("MongoCollection[Shape]", database[self.name])

    def read_as(
        self,
        shape: type[Projected],  # noqa: ARG002 - for the type checker alone
        database: Database[Document],
    ) -> MongoCollection[Projected]:
        """Return the collection for a read whose projection or pipeline yields another shape."""
        # Only the caller's query determines the shape.
        return cast("MongoCollection[Projected]", database[self.name])


@dataclass(frozen=True)
class Family(Generic[Shape]):
    """Collections of the same declaration, one for each day (UTC): `name` and `.20260301`."""

    name: str
    shape: type[Shape]
    indexes: tuple[IndexModel, ...] = ()
    shard_key: Mapping[str, int | str] = field(default_factory=lambda: {"_id": 1})

    def of_day(self, day: datetime) -> Collection[Shape]:
        """Return the collection of a time's day."""
        name = f"{self.name}.{day:%Y%m%d}"
        return Collection(name, self.shape, self.indexes, self.shard_key, family=self.name)

    def days(self, database: Database[Document]) -> list[datetime]:
        """Return the days with a collection, the earliest first."""
        dated = {"name": {"$regex": rf"^{re.escape(self.name)}\.\d{{8}}$"}}
        names = database.list_collection_names(filter=dated)
        days = (name.rpartition(".")[2] for name in sorted(names))
        return [datetime.strptime(day, "%Y%m%d").replace(tzinfo=UTC) for day in days]

    def collections(self, database: Database[Document]) -> list[Collection[Shape]]:
        """Return the existing collections, the earliest first."""
        return [self.of_day(day) for day in self.days(database)]


def connect(settings: Settings) -> Database[Document]:
    """Return the database of the settings; it connects at first use."""
    uri = settings.mongodb_uri.get_secret_value()
    if uri.startswith("mongodb+srv:"):
        _look_up_patiently()
    client: MongoClient[Document] = MongoClient(
        uri,
        connect=False,
        appname="plaza",
        serverSelectionTimeoutMS=SERVER_SELECTION_TIMEOUT_MS,
        connectTimeoutMS=CONNECT_TIMEOUT_MS,
        timeoutMS=OPERATION_TIMEOUT_MS,
        heartbeatFrequencyMS=HEARTBEAT_MS,
        maxAdaptiveRetries=CONNECTION_RETRIES,
        maxPoolSize=settings.max_pool_size,
        maxIdleTimeMS=MAX_IDLE_MS,
        # Whatever the address says: a write is repeated after a failover.
        retryReads=True,
        retryWrites=True,
    )
    return open_database(client, settings.database)


def _look_up_patiently() -> None:
    """Make DNS look-ups retry within CONNECT_TIMEOUT_MS after a lost packet or SERVFAIL.

    By default, dnspython's first try takes all of CONNECT_TIMEOUT_MS.
    """
    from dns import resolver

    shared = resolver.get_default_resolver()
    for option, value in _LOOK_UPS.items():
        setattr(shared, option, value)


class _Collection(MongoCollection[Document]):
    """A collection whose reads bring up to `_BATCH_ROWS` rows in one round trip.

    By default, the server's first batch has 101 rows, so a page of 200 rows takes two round trips.
    Later batches have up to 16 MB.
    """

    def find(self, *args: Any, **options: Any) -> Cursor[Document]:
        return super().find(*args, **{"batch_size": _BATCH_ROWS, **options})

    def aggregate(self, *args: Any, **options: Any) -> CommandCursor[Document]:
        return super().aggregate(*args, **{"batchSize": _BATCH_ROWS, **options})


class _Database(Database[Document]):
    """A database that makes the object of each collection once.

    PyMongo makes another at each use: 11 µs, some ten times in a call.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._made: dict[str, MongoCollection[Document]] = {}

    def __getitem__(self, name: str) -> MongoCollection[Document]:
        made = self._made.get(name)
        if made is None:
            made = self._made[name] = _Collection(self, name)
        return made


def open_database(client: MongoClient[Document], name: str) -> Database[Document]:
    """Return a database whose dates are aware UTC and whose writes survive a failover."""
    return _Database(
        client,
        name,
        codec_options=CodecOptions(tz_aware=True, tzinfo=UTC),
        write_concern=WriteConcern("majority"),
        read_concern=ReadConcern("local"),
        # Whatever the address says: reads after writes need the primary.
        read_preference=ReadPreference.PRIMARY,
    )


# Positions as in `with_transaction`. Whatever the address says: transactions need the primary.
_TRANSACTION = (ReadConcern("snapshot"), WriteConcern("majority"), ReadPreference.PRIMARY)


def in_transaction(database: Database[Document], work: Callable[[ClientSession], Result]) -> Result:
    """Run `work(session)` as a transaction on a snapshot and return its result.

    `work` passes the session to every call. It runs again after a conflict with another writer, so
    it may do nothing that the transaction does not undo. Its exceptions abort the transaction.
    Raises Unavailable when conflicts outlast the time-out, and ChangeTooLarge when the writes do
    not fit into the server's cache.
    """
    with database.client.start_session() as session, pymongo.timeout(TRANSACTION_TIMEOUT_SECONDS):
        try:
            return session.with_transaction(work, *_TRANSACTION)
        except PyMongoError as error:
            if error.timeout:
                raise Unavailable("Another request is changing the same data; try again") from error
            if isinstance(error, OperationFailure) and error.code == _TRANSACTION_TOO_LARGE:
                raise ChangeTooLarge from error
            raise


def is_outage(error: PyMongoError) -> bool:
    """Return whether an operation failed for lack of a server or of time.

    A retry may then succeed. A write without a majority's confirmation counts, too: the primary
    stepped down, and the write may or may not survive. A failed DNS look-up of the servers counts,
    too.
    """
    is_cut_off = isinstance(error, ConnectionFailure) or error.has_error_label(_RETRYABLE)
    is_unconfirmed = isinstance(error, WriteConcernError) or (
        isinstance(error, BulkWriteError) and not error.details["writeErrors"]
    )
    if is_cut_off or is_unconfirmed or error.timeout:
        return True
    return _met_a_step_down(error) or _knows_no_server(error)


def is_caused_by_data(error: PyMongoError) -> bool:
    """Return whether an operation failed for its own data: other documents may succeed."""
    if is_outage(error) or not isinstance(error, OperationFailure):
        return False
    return isinstance(error, WriteError | BulkWriteError) or error.code in _DATA_CODES


def _knows_no_server(error: PyMongoError) -> bool:
    """Return whether the look-up of a cluster's servers failed."""
    if not isinstance(error, ConfigurationError) or error.__cause__ is None:
        return False
    from dns.exception import DNSException

    return isinstance(error.__cause__, DNSException)


def _met_a_step_down(error: PyMongoError) -> bool:
    """Return whether a primary refused a write because it was stepping down.

    The driver retries a command that the server refuses as a whole. A refused write within a
    command has no error label, so the driver raises it.
    """
    if isinstance(error, BulkWriteError):
        codes = {each["code"] for each in error.details["writeErrors"]}
        return bool(codes) and codes <= _NOT_PRIMARY_CODES
    return isinstance(error, OperationFailure) and error.code in _NOT_PRIMARY_CODES


def upsert(
    collection: MongoCollection[Shape], key: Document, update: Document | list[Document]
) -> None:
    """Update or insert the document of a key; safe against a concurrent insert.

    For keys with more fields than the unique index: after a duplicate key, the server repeats an
    upsert by itself only if the filter has exactly the index's fields.
    """
    try:
        collection.update_one(key, update, upsert=True)
    except DuplicateKeyError:
        collection.update_one(key, update, upsert=True)


def prefix_range(prefix: str) -> Document:
    """Return the condition of texts that begin with a prefix."""
    return {"$gte": prefix, "$lt": prefix[:-1] + chr(ord(prefix[-1]) + 1)}


def delete_some(collection: MongoCollection[Any], where: Document, most: int) -> int:
    """Delete at most `most` documents of a filter; return their number.

    If the number is `most`, more documents may remain.
    """
    ids = [row["_id"] for row in collection.find(where, {"_id": 1}).limit(most)]
    if ids:
        collection.delete_many({**where, "_id": {"$in": ids}})
    return len(ids)


def only_duplicates(error: BulkWriteError) -> bool:
    """Return whether a bulk failed only for documents that another writer made first."""
    details: Any = error.details
    codes = {each["code"] for each in details["writeErrors"]}
    return codes == {DUPLICATE_KEY} and not details["writeConcernErrors"]


class NotInserted(Exception):
    """The server refused documents; the message has their number and the first code."""


def insert_missing(collection: MongoCollection[Shape], documents: Sequence[Shape]) -> None:
    """Insert documents; an existing document with the same unique key stays.

    Raises NotInserted after inserting all other documents, if the server refused some.
    """
    if not documents:
        return
    try:
        collection.insert_many(documents, ordered=False)
    except BulkWriteError as error:
        details: Any = error.details
        codes = [each["code"] for each in details["writeErrors"]]
        refused = [code for code in codes if code != DUPLICATE_KEY]
        refused += [each["code"] for each in details["writeConcernErrors"]]
        if refused:
            # The driver's error quotes every document: up to half a megabyte.
            raise NotInserted(f"{len(refused)} refused, code {refused[0]}") from None
