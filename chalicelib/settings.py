"""Settings of a deployment, read once from the environment."""

from collections.abc import Mapping
from typing import Literal, Self
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, model_validator

from chalicelib.setting_types import (
    ConfidentialUrl,
    DatabaseName,
    Factor,
    Listed,
    OpenSites,
    PrivateKey,
    Secret,
    Secrets,
    WebhookSecrets,
)

PREFIX = "PLAZA_"


class InvalidSettings(Exception):
    """The environment has invalid settings; the message names each of them."""


def _text(message: str) -> str:
    """Return the message of a setting's validator, without pydantic's prefix."""
    return message.removeprefix("Value error, ")


_URL = r"^(https?://[^\s/]+(/[^\s/]+)*)?$"
_YEAR_SECONDS = 31_536_000
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


class Settings(BaseModel):
    """Plaza's settings; the field `lease_ms` is the environment variable `PLAZA_LEASE_MS`.

    The secrets are optional here, since packaging imports the app without them; code that needs a
    missing secret raises `errors.Misconfigured`. `script/settings` makes docs/settings.md from the
    descriptions.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    mongodb_uri: SecretStr = Field(
        default=SecretStr("mongodb://127.0.0.1:27017/"),
        description="The replica set or sharded cluster; unset, a local one on MongoDB's own port.",
    )
    database: DatabaseName = Field(
        default="plaza",
        pattern=r"^[A-Za-z0-9_-]{1,38}$",
        description="The database's name; not `admin`, `config` or `local`.",
    )
    # A container serves a call at a time; the second connection is for a helper thread.
    max_pool_size: int = Field(
        default=2,
        ge=1,
        le=1_000,
        description="Connections of a container to each member of the replica set.",
    )

    jwt_secret: Secret | None = Field(default=None, description="Verifies HS256 tokens.")
    # A key set serves several applications: only the audience distinguishes their tokens.
    jwks_url: ConfidentialUrl | None = Field(
        default=None,
        description="The https URL of the keys that verify RS256 and ES256 tokens. "
        "Needs `PLAZA_JWT_AUDIENCE`.",
    )
    jwt_issuer: str | None = Field(
        default=None, description="The `iss` that a token must have; unset, any."
    )
    jwt_audience: str | None = Field(
        default=None, description="The `aud` that a token must have; unset, any."
    )
    subject_key: Secret | None = Field(
        default=None,
        description="Hashes the `sub` of tokens where it is no id, such as an e-mail address, and "
        "where it is of a site's own issuer, and the addresses of people of imports. Set it before "
        "such people come, and never change it: their ids would change. Unset, whoever guesses a "
        "`sub` or an address can compute its id.",
    )
    signing_keys: Secrets = Field(
        default=(),
        description="Keys of cursors, tokens of ads, visitors, guests and accounts, of stored "
        "secrets, and of hashed mail addresses. The first key signs and every key verifies, so "
        "that keys can be rotated: keep the former keys behind it "
        "([dropping a key](operations/deploy.md#dropping-a-signing-key)).",
    )

    allowed_origins: Listed = Field(
        default=(),
        description="Origins whose pages may read answers; empty means every origin, without "
        "credentials.",
    )
    limits: Factor = Field(
        default=1.0,
        description="Multiplies the [limits of writing](operations/security.md#limits-of-writing); "
        "`off` for none.",
    )
    trusted_hops: int = Field(
        default=0,
        ge=0,
        le=5,
        description="Proxies of the deployment's own before API Gateway, such as 1 for a "
        "CloudFront.",
    )

    cdn_proof: SecretStr | None = Field(
        default=None,
        min_length=16,
        description="The value of `x-plaza-cdn-country`, a header that the deployment's own CDN "
        "adds to calls. Readers' countries are taken from a CDN's header only beside it.",
    )

    queue_prefix: str = Field(
        default="plaza-dev-",
        pattern=r"^[A-Za-z0-9_-]{0,40}$",
        description="What the queues' names begin with.",
    )
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field(
        default="INFO",
        description="The least level that is logged. Metrics are log lines of the level `INFO`.",
    )
    metrics_namespace: str = Field(
        default="Plaza",
        pattern=r"^[A-Za-z0-9._/#-]{1,255}$",
        description="The CloudWatch namespace of the metrics.",
    )

    open_nodes: OpenSites = Field(
        default=(),
        description="Sites where the first comment on an unknown page makes its discussion; "
        "`true` is the site `default`.",
    )
    image_sites: Listed = Field(
        default=(),
        description="Sites whose comments may show images. After a change, the command "
        "`rerender_comments` changes the comments that are there.",
    )
    reserved_names: Listed = Field(
        default=(),
        description="Names that only staff may have, beside "
        "[Plaza's own list](decisions/0093-texts-that-can-be-read.md).",
    )
    action_sites: Listed = Field(
        default=(),
        description="Sites whose comments and pages become actions of the activity feed; "
        "`default` also for public posts. After a site is taken off, the command `settle_actions` "
        "removes its actions.",
    )
    action_scope: Literal["team", "department"] = Field(
        default="department", description="Who is told of those: the author's team or department."
    )
    post_types: Listed = Field(
        default=(),
        description="The types of posts that may be written, as `status,photo`; empty means all. "
        "Posts of other types that are there stay, and can be edited.",
    )
    social_notifications: bool = Field(
        default=False,
        description="Whether people are notified of new followers, of posts of authors whom they "
        "watch, of reactions to their posts, comments on them, and posts on their walls.",
    )
    post_page: str = Field(
        default="",
        pattern=r"^(https?://[^\s{}]{1,1000}\{post\}[^\s{}]{0,200})?$",
        description="The address of a post's page, with `{post}` for its id, to which "
        "notifications lead; empty: nowhere.",
    )
    person_page: str = Field(
        default="",
        pattern=r"^(https?://[^\s{}]{1,1000}\{user\}[^\s{}]{0,200})?$",
        description="The address of a person's page, with `{user}` for the id, to which "
        "notifications of followers lead; empty: nowhere.",
    )
    embedded_max_bytes: int = Field(
        default=1_048_576,
        ge=4_096,
        le=8_388_608,
        description="How large a node may grow with its comments inside before they become "
        "documents.",
    )
    post_budget_ms: int = Field(
        default=5_000,
        ge=0,
        le=20_000,
        description="How long a comment may wait for a move of its node before a 503.",
    )

    zone_ttl_ms: int = Field(
        default=1_000,
        ge=0,
        le=60_000,
        description="How long a container serves a zone before it asks whether the zone changed.",
    )
    explore_rate: float = Field(
        default=0.0,
        ge=0,
        le=1,
        description="The share of decisions made by chance in zones with CPC ads.",
    )
    public_url: str = Field(
        default="",
        pattern=_URL,
        description="Where pages reach this API, with the stage and without a last slash. Unset, "
        "ads and `Location` headers have paths.",
    )
    frame_url: str = Field(
        default="",
        pattern=_URL,
        description="Another host of this API, for "
        "[HTML creatives](operations/security.md#html-creatives) alone; unset, the API's own.",
    )
    prepayment: bool = Field(
        default=True,
        description="Whether advertisers without a credit line pay before their campaigns spend.",
    )
    budget_lease_impressions: int = Field(
        default=100,
        ge=1,
        le=100_000,
        description="Impressions that a container leases of a campaign's budget at a time.",
    )
    budget_lease_seconds: int = Field(
        default=60, ge=1, le=600, description="How long it leases them."
    )
    # More than the five visibility timeouts after which SQS stops delivering a message.
    beacon_grace_seconds: int = Field(
        default=1_200,
        ge=60,
        le=86_400,
        description="How long after its lease's expiry an impression may still be billed.",
    )

    buyer_days: int = Field(
        default=730,
        ge=30,
        le=3_650,
        description="How many days an order keeps its buyer's address and e-mail address.",
    )
    payments: Literal["fake", "stripe"] | None = Field(
        default=None,
        description="Who takes the money of shops; unset, no shop sells. `stripe` needs "
        "`PLAZA_STRIPE_KEY` and `PLAZA_STRIPE_WEBHOOK_SECRETS`. `fake` takes no money, for "
        "trying a shop; it is refused beside `PLAZA_JWKS_URL`.",
    )
    stripe_key: SecretStr | None = Field(
        default=None, description="The secret key of the Stripe account that takes the money."
    )
    stripe_webhook_secrets: WebhookSecrets = Field(
        default=(),
        description="The secrets that Stripe signs its events with; two while one replaces the "
        "other. `off` in a function that receives no events.",
    )
    stripe_sites: Listed = Field(
        default=(),
        description="The sites whose shops this Stripe account is for; `*` for all. A deployment "
        "has one account: the shop of any other site cannot choose `stripe` (409 `other_account`).",
    )
    stripe_url: ConfidentialUrl = Field(
        default="https://api.stripe.com", description="Where Stripe's API is."
    )

    akismet_key: SecretStr | None = Field(
        default=None,
        description="The key of Akismet's API, which [sites that want it]"
        "(operations/features.md#spam) have asked about their comments; unset, none is.",
    )
    akismet_url: ConfidentialUrl = Field(
        default="https://rest.akismet.com", description="Where Akismet's API is."
    )

    mail_from: str = Field(
        default="",
        pattern=r"^([A-Za-z0-9._+-]{1,64}@[a-z0-9.-]{1,63})?$",
        description="The address that [letters](operations/features.md#mail) are sent from, by "
        "Amazon SES; unset, none are.",
    )
    mail_configuration_set: str = Field(
        default="",
        pattern=r"^[A-Za-z0-9_-]{0,64}$",
        description="SES's configuration set of letters, which tells of returned letters.",
    )
    mail_folder: str = Field(
        default="",
        description="A folder of this machine into which letters are written instead of being "
        "sent, for trying; only without `PLAZA_MAIL_FROM`.",
    )

    vapid_public_key: str = Field(
        default="",
        # An uncompressed point of P-256, in base64url.
        pattern=r"^(B[A-Za-z0-9_-]{86})?$",
        description="The public key of [web push](operations/features.md#web-push); unset, "
        "browsers get none.",
    )
    vapid_private_key: PrivateKey | None = Field(
        default=None,
        description="The private key of web push: 32 bytes in base64url. The function "
        "`send_webhooks` alone needs it, and `PLAZA_VAPID_CONTACT` with it.",
    )
    vapid_contact: str = Field(
        default="",
        pattern=r"^(mailto:[^\s@]{1,64}@[a-z0-9.-]{1,63}|https://[^\s]{1,120})?$",
        description="Whom a push service may write to: `mailto:` and an address, or an https URL.",
    )

    wall: Literal["copies", "posts"] = Field(
        default="copies",
        description="How walls are made: "
        "[when to choose which](decisions/0040-references-or-copies.md). After a change to "
        "`copies`, the command `copy_walls` copies the posts that are there.",
    )
    news: Literal["references", "copies", "pull"] = Field(
        default="references",
        description="How news are made: [references or copies](decisions/0040-references-or-"
        "copies.md), or [pull](decisions/0042-push-or-pull.md).",
    )
    pull_audience: int = Field(
        default=10_000,
        ge=0,
        le=1_000_000,
        description="A post to more readers is not delivered; they find it when they read.",
    )
    lease_ms: int = Field(
        default=60_000,
        ge=100,
        le=900_000,
        description="How long a silent worker keeps a fan-out, or a move of comments, before "
        "another takes it over.",
    )

    hit_capped_bytes: int = Field(
        default=1_073_741_824,
        ge=1_048_576,
        le=1_125_899_906_842_624,
        description="How large the [log of hits](operations/features.md#analytics) `capped` is, "
        "which all its sites share.",
    )
    hit_log_concern: Literal["majority", "1"] = Field(
        default="majority",
        description="The write concern of raw hits in the logs `timeseries` and `capped`; counts "
        "always wait for a majority.",
    )

    penalty_close_seconds: int = Field(
        default=60,
        ge=0,
        le=_YEAR_SECONDS,
        description="An event by the reader's manager or a direct report, or on a ref that is "
        "assigned to the reader, is ranked as if it were this much older.",
    )
    penalty_team_seconds: int = Field(
        default=600,
        ge=0,
        le=_YEAR_SECONDS,
        description="An event by a member of the reader's team is ranked as if it were this much "
        "older.",
    )
    penalty_department_seconds: int = Field(
        default=3_600,
        ge=0,
        le=_YEAR_SECONDS,
        description="An event by a member of the reader's department is ranked as if it were this "
        "much older.",
    )
    penalty_no_tie_seconds: int = Field(
        default=86_400,
        ge=0,
        le=_YEAR_SECONDS,
        description="An event by anybody else is ranked as if it were this much older.",
    )

    asset_bucket: str = Field(
        default="",
        pattern=r"^([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])?$",
        description="The bucket of the [store `s3`](operations/features.md#assets) of assets; "
        "unset, all assets are in MongoDB.",
    )

    person_assets_mib: int = Field(
        default=1_024,
        ge=1,
        le=1_048_576,
        description="MiB that the [assets](operations/features.md#assets) of a person may have.",
    )
    site_assets_mib: int = Field(
        default=102_400,
        ge=1,
        le=1_073_741_824,
        description="MiB that the assets of a site may have.",
    )

    @property
    def is_local(self) -> bool:
        """Whether `public_url` is an address of this machine, as in development.

        Then the addresses that callers name may have any host, also without TLS. Else each host
        must be public.
        """
        return urlsplit(self.public_url).hostname in _LOOPBACK

    @model_validator(mode="after")
    def _check_audience(self) -> Self:
        if self.jwks_url and not self.jwt_audience:
            raise ValueError(
                "PLAZA_JWKS_URL needs PLAZA_JWT_AUDIENCE: without it, a token that the provider "
                "issued to any other application would be taken"
            )
        return self

    @model_validator(mode="after")
    def _check_push(self) -> Self:
        if self.vapid_private_key and not self.vapid_contact:
            raise ValueError(
                "PLAZA_VAPID_PRIVATE_KEY needs PLAZA_VAPID_CONTACT: push services refuse senders "
                "without one"
            )
        return self

    @model_validator(mode="after")
    def _check_payments(self) -> Self:
        if self.payments == "fake" and self.jwks_url:
            raise ValueError(
                "PLAZA_PAYMENTS=fake takes no money, and is refused beside PLAZA_JWKS_URL: the "
                "people of an identity provider would get goods for nothing"
            )
        secrets = {
            "PLAZA_STRIPE_KEY": self.stripe_key is not None,
            "PLAZA_STRIPE_WEBHOOK_SECRETS": self.stripe_webhook_secrets != (),
        }
        missing = [name for name, is_given in secrets.items() if not is_given]
        if self.payments == "stripe" and missing:
            raise ValueError(f"PLAZA_PAYMENTS=stripe needs {' and '.join(missing)}")
        return self

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
            faults = [
                f"{names[str(e['loc'][0])]}: {_text(e['msg'])}" if e["loc"] else _text(e["msg"])
                for e in error.errors()
            ]
            raise InvalidSettings("; ".join(faults)) from None
