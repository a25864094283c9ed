"""Cost of a call in dollars: its measured time and round trips, at the prices of one file."""

import tomllib
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from bench.figures import Figure

FILE = Path(__file__).with_name("prices.toml")
_MILLION = 1_000_000


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Lambda(_Part):
    """Lambda's prices, and the size of Plaza's functions."""

    per_million_requests: float
    per_gb_second: float
    memory_mb: int
    core_memory_mb: int
    concurrency: int


class ApiGateway(_Part):
    """API Gateway's price, and the rate at which an account is throttled."""

    per_million_requests: float
    requests_per_second: int


class Sqs(_Part):
    """The price of SQS, and how many messages a call of Plaza carries when there are many."""

    per_million_requests: float
    messages_per_call: int
    send_ms: float


class Logs(_Part):
    """The price of logs, and how much an invocation writes."""

    per_gb: float
    bytes_per_call: int


class Tracing(_Part):
    """The price of X-Ray, and the share of requests that it records."""

    per_million_traces: float
    sampled: float


class Traffic(_Part):
    """The price of what leaves AWS, and how answers are compressed."""

    per_gb: float
    header_bytes: int
    compressed_to: float
    compressed_from_bytes: int


class Fixed(_Part):
    """Fixed costs, whatever the traffic; not every deployment has all of them."""

    name: str
    per_month: float
    is_needed: bool


class Tier(_Part):
    """A size of cluster: three members, with the cores of the primary."""

    name: str
    per_hour: float
    cores: int
    connections: int


class Atlas(_Part):
    """Atlas's sizes, how busy they may be, and how far away they are."""

    utilisation: float
    round_trip_ms: float
    tiers: list[Tier]


class Prices(_Part):
    """All that is asked for, in dollars."""

    region: str
    date: date
    lambda_: Lambda = Field(alias="lambda")
    api_gateway: ApiGateway
    sqs: Sqs
    logs: Logs
    tracing: Tracing
    traffic: Traffic
    atlas: Atlas
    fixed: list[Fixed]


def read_prices(file: Path = FILE) -> Prices:
    """Return the prices of a file; raises pydantic's ValidationError."""
    return Prices.model_validate(tomllib.loads(file.read_text(encoding="utf-8")))


@dataclass(frozen=True)
class Cost:
    """What a million of one call cost, in dollars."""

    name: str
    duration_ms: float
    api_gateway: float
    compute: float
    queues: float
    logs: float
    traffic: float
    database: float

    @property
    def by_use(self) -> float:
        """Return the cost by use, which is everything but the database."""
        return self.api_gateway + self.compute + self.queues + self.logs + self.traffic

    @property
    def total(self) -> float:
        """Return the sum."""
        return self.by_use + self.database

    def shared_by(self, number: int) -> "Cost":
        """Return the cost of one of the calls that one work served; each has its own messages."""
        return replace(
            self,
            duration_ms=self.duration_ms / number,
            api_gateway=self.api_gateway / number,
            compute=self.compute / number,
            logs=self.logs / number,
            traffic=self.traffic / number,
            database=self.database / number,
        )


def duration_ms(figure: Figure, prices: Prices, sent: float = 0.0) -> float:
    """Return how long a call takes in Lambda: an estimate on the high side.

    All that was measured counts as computing and is slowed by the function's share of a core,
    though a part of it was waiting for MongoDB; every round trip then takes the network's time,
    and so does each of the messages sent, which the bench's queues take at once.
    """
    slower = max(1.0, prices.lambda_.core_memory_mb / prices.lambda_.memory_mb)
    waiting = figure.round_trips * prices.atlas.round_trip_ms + sent * prices.sqs.send_ms
    return figure.p50_ms * slower + waiting


def server_seconds(figure: Figure) -> float:
    """Return how long a call keeps a core of MongoDB busy: its floor's time, or else its own."""
    return (figure.floor_p50_ms or figure.p50_ms) / 1_000


def cost_of_million(
    name: str, figure: Figure, prices: Prices, *, is_request: bool = True, messages: float = 0.0
) -> Cost:
    """Return what a million calls cost, with the messages that each of them sends.

    A message is sent by itself, and received and deleted with others. `is_request` tells a call
    through API Gateway, which waits until it is sent, from a worker's.
    """
    gigabytes = prices.lambda_.memory_mb / 1_024
    a_call_ms = duration_ms(figure, prices, messages if is_request else 0.0)
    seconds = a_call_ms / 1_000 * _MILLION
    calls_to_sqs = messages * (1 + 2 / prices.sqs.messages_per_call)
    traced = prices.tracing.sampled * prices.tracing.per_million_traces
    smallest = prices.atlas.tiers[0]
    per_core_second = smallest.per_hour / 3_600 / smallest.cores / prices.atlas.utilisation
    return Cost(
        name,
        a_call_ms,
        api_gateway=prices.api_gateway.per_million_requests if is_request else 0.0,
        compute=prices.lambda_.per_million_requests
        + seconds * gigabytes * prices.lambda_.per_gb_second,
        queues=calls_to_sqs * prices.sqs.per_million_requests,
        logs=_gigabytes(prices.logs.bytes_per_call) * prices.logs.per_gb + traced,
        traffic=_gigabytes(_sent_bytes(figure, prices)) * prices.traffic.per_gb * is_request,
        database=server_seconds(figure) * _MILLION * per_core_second,
    )


def _sent_bytes(figure: Figure, prices: Prices) -> float:
    """Return how much leaves AWS for an answer."""
    traffic, body = prices.traffic, float(figure.answer_bytes)
    if body >= traffic.compressed_from_bytes:
        body *= traffic.compressed_to
    return body + traffic.header_bytes


def _gigabytes(bytes_each: float) -> float:
    """Return how much a million of them are."""
    return bytes_each * _MILLION / 1e9
