"""Everything that a deployment can set, read once from the environment."""

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
)

PREFIX = "PLAZA_"


class InvalidSettings(Exception):
    """The environment holds a setting that cannot be used; the message names each one."""


def _split(value: object) -> object:
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    return value


def _not_the_servers_own(database: str) -> str:
    if database in {"admin", "config", "local"}:
        raise ValueError("this database is the server's own")
    return database


# HS256 asks for a key of at least 256 bits (RFC 7518, section 3.2).
Secret = Annotated[SecretStr, Field(min_length=32)]


class Settings(BaseModel):
    """Plaza's settings; the field `lease_ms` is the environment variable `PLAZA_LEASE_MS`.

    The secrets are optional here, since packaging imports the app without them; what needs
    one raises `errors.Misconfigured` when it is first used.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    mongodb_uri: SecretStr = SecretStr("mongodb://127.0.0.1:27017/")
    database: Annotated[
        str, Field(pattern=r"^[A-Za-z0-9_-]{1,38}$"), AfterValidator(_not_the_servers_own)
    ] = "plaza"

    jwt_secret: Secret | None = None
    jwks_url: str | None = None
    jwt_issuer: str | None = None
    jwt_audience: str | None = None
    # The first key signs; every key verifies, so that keys can be rotated.
    signing_keys: Annotated[tuple[Secret, ...], BeforeValidator(_split)] = ()

    # Origins whose pages may read an answer; empty means every origin, without credentials.
    allowed_origins: Annotated[tuple[str, ...], BeforeValidator(_split)] = ()
    queue_prefix: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{0,40}$")] = "plaza-dev-"
    # The metrics stand on log lines of the level INFO.
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"
    metrics_namespace: Annotated[str, Field(pattern=r"^[A-Za-z0-9._/#-]{1,255}$")] = "Plaza"

    # A container serves one call at a time; the second connection is for a helper thread.
    max_pool_size: Annotated[int, Field(ge=1, le=1_000)] = 2

    # How long a worker may go without a word before another takes its fan-out over.
    lease_ms: Annotated[int, Field(ge=100, le=900_000)] = 60_000

    # How walls and news are made: docs/decisions/0040 and 0042 say when to choose which.
    wall: Literal["copies", "posts"] = "copies"
    news: Literal["references", "copies", "pull"] = "references"
    # A post to more readers than these is not brought to them: they find it where it is.
    pull_audience: Annotated[int, Field(ge=0, le=1_000_000)] = 10_000

    # How far each tie between a reader and an event sets an action back in the activity feed.
    penalty_close_seconds: Annotated[int, Field(ge=0, le=31_536_000)] = 60
    penalty_team_seconds: Annotated[int, Field(ge=0, le=31_536_000)] = 600
    penalty_department_seconds: Annotated[int, Field(ge=0, le=31_536_000)] = 3_600
    penalty_no_tie_seconds: Annotated[int, Field(ge=0, le=31_536_000)] = 86_400

    # Whether the first comment on an unknown page makes its node, as embed widgets expect.
    open_nodes: bool = False
    # Sites whose comments may show images.
    image_sites: Annotated[tuple[str, ...], BeforeValidator(_split)] = ()
    # How large a node may grow with its comments inside, before they become documents.
    embedded_max_bytes: Annotated[int, Field(ge=4_096, le=8_388_608)] = 1_048_576
    # How long a comment may wait for a move of its node before it is refused with a 503.
    post_budget_ms: Annotated[int, Field(ge=0, le=20_000)] = 5_000

    # How long a container serves a zone before it asks whether the zone has changed.
    zone_ttl_ms: Annotated[int, Field(ge=0, le=60_000)] = 1_000
    # How many of the decisions in zones with CPC ads are made by chance.
    explore_rate: Annotated[float, Field(ge=0, le=1)] = 0.0

    # Where pages reach this API, stage and all; without it, ads bear paths to beacon and click.
    public_url: Annotated[str, Field(pattern=r"^(https?://[^\s/]+(/[^\s/]+)*)?$")] = ""
    # What a container leases of a campaign's budget at a time, and for how long.
    budget_lease_impressions: Annotated[int, Field(ge=1, le=100_000)] = 100
    budget_lease_seconds: Annotated[int, Field(ge=1, le=600)] = 60
    # How long after its lease's expiry an impression may still be billed: more than the five
    # visibility timeouts after which SQS gives a message up.
    beacon_grace_seconds: Annotated[int, Field(ge=60, le=86_400)] = 1_200

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> Self:
        """Read the settings; an empty variable counts as unset.

        Raises InvalidSettings, naming every variable at fault.
        """
        names = {field: PREFIX + field.upper() for field in cls.model_fields}
        given = {field: environment.get(name, "") for field, name in names.items()}
        try:
            return cls.model_validate({field: value for field, value in given.items() if value})
        except ValidationError as error:
            faults = [f"{names[str(e['loc'][0])]}: {e['msg']}" for e in error.errors()]
            raise InvalidSettings("; ".join(faults)) from None
