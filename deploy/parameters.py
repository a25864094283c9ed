"""The template's parameters, and the conditions, rules and variables that come from them."""

from typing import Any

from chalicelib.settings import PREFIX
from deploy.cdn import PROOF
from deploy.declared import CONFIG, Worker
from deploy.intrinsics import filled, reference, when
from deploy.mail import CONFIGURATION_SET_NAME
from deploy.patterns import constraint
from deploy.queues import concurrency_parameter

# Members of the deployment's secret, as variables. Every function has the shared members, the API
# also its own, and the functions below some. A template may have at most 60 dynamic references.
SHARED_SECRETS = ("mongodb_uri",)
API_SECRETS = ("jwt_secret", "signing_keys")
# Keys that sign links, seal secrets, and hash addresses.
SIGNING_SECRETS = ("signing_keys",)
# An import hashes the addresses of its authors as the API hashes those of guests.
IMPORTING = frozenset({"move_nodes"})
# This function writes notification letters: it hashes addresses, and signs links.
NOTIFYING = frozenset({"comments_schedules"})
# This function carries a guest's past to an account, and erases people: it hashes the addresses of
# their letters.
CARRYING = frozenset({"social_errands"})
# Only with `Payments=stripe`: a reference fails where the secret lacks the member.
PAYMENT_SECRETS = ("stripe_key", "stripe_webhook_secrets")
# Only with `Akismet`.
SPAM_SECRETS = ("akismet_key",)
# Only with `VapidPublicKey`, and only for the sender: other functions use the public key.
PUSH_SECRETS = ("vapid_private_key",)
# The functions that send push messages, and events to webhooks: they open the hooks' secrets.
PUSHING = frozenset({"send_webhooks"})
# The functions beside the API's that ask about spam. The API has the key, too: without a key, it
# notes no comments to check.
ASKING = frozenset({"run_batches"})
# The functions beside the API's that ask the payments' provider.
PAYING = frozenset({"resume_orders", "shop_schedules"})
# A dynamic reference to a secret: CloudFormation resolves it when it makes or changes a resource
# that contains it.
_REFERENCE = (
    "{{{{resolve:secretsmanager:${{SecretName}}:SecretString:{member}::${{SecretVersion}}}}}}"
)

# The settings that differ from one deployment to the next, without being secret.
SETTINGS = {
    "database": "The database's name; empty for plaza",
    "public_url": "Where pages reach the API, stage included, so that ads bear whole addresses",
    "frame_url": "Another host of the API, for HTML creatives alone; empty for the API's own",
    "allowed_origins": "Origins whose pages may read answers, by commas; empty for every one",
    "jwks_url": "An https URL of the keys of RS256 and ES256 tokens; with JwtAudience",
    "jwt_issuer": "What a token's iss must say; empty for anything",
    "jwt_audience": "What a token's aud must say; empty for anything, without JwksUrl",
    "buyer_days": "How many days an order keeps its buyer's address; empty for 730",
    "person_assets_mib": "How many MiB a person's assets may have; empty for 1024",
    "site_assets_mib": "How many MiB a site's assets may have; empty for 102400",
    "prepayment": "Whether advertisers pay first; false to bill afterwards, empty for true",
    "limits": "How many times the limits of writing people have; off for none, empty for 1",
    "trusted_hops": "How many proxies of your own stand before API Gateway; empty for Cdn alone",
    "reserved_names": "Names that only staff may have, beside Plaza's own list, by commas",
    "image_sites": "Sites whose comments may show images, by commas",
    "stripe_sites": "Sites whose shops the secret's Stripe account is for, by commas; * for all",
    "open_nodes": "Sites where the first comment makes a page's node, by commas",
    "vapid_public_key": "The public key of web push; empty for none, else with VapidContact",
}

# The most characters of a setting: with all of them, a function's variables fit into Lambda's 4 KB.
# CloudFormation would notice only after it has changed other resources.
MOST_CHARACTERS = {
    "database": 38,
    "allowed_origins": 1_370,
    "reserved_names": 200,
    # One site with the longest name, or some with shorter names.
    "stripe_sites": 64,
    **dict.fromkeys(("image_sites", "open_nodes"), 100),
    **dict.fromkeys(("public_url", "frame_url", "jwks_url", "jwt_issuer", "jwt_audience"), 128),
    "vapid_public_key": 87,
}
_MOST_CHARACTERS_OF_A_NUMBER = 12

# CloudWatch takes no other numbers of days.
_RETENTION_DAYS = [1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 3653]


def parameters(stage: str, workers: list[Worker]) -> dict[str, Any]:
    """Return the template's parameters; each has a default that deploys."""
    return {
        "SecretName": _text(
            f"A secret in Secrets Manager, of {', '.join(SHARED_SECRETS + API_SECRETS)}",
            f"plaza/{stage}",
        ),
        "SecretVersion": _text(
            "The secret's version id; a new one makes a deployment take the new values. "
            "Empty for the current version at the first deployment"
        ),
        **{_parameter(field): _setting(field) for field in SETTINGS},
        "JwksUrl": {**_setting("jwks_url"), "AllowedPattern": "(https://.+)?"},
        # A parameter, since a reference fails where the secret lacks the member.
        "SubjectKey": _secret(
            "Hashes a token's sub that is no id; 32 characters or more, never to change", 32, 64
        ),
        "CdnProof": _secret(
            "What a CDN of your own sends as x-plaza-cdn-country; 16 to 40 characters", 16, 40
        ),
        "Payments": {
            **_text(
                "Who takes the money of shops: stripe; or fake, which takes none, without JwksUrl; "
                "empty where nothing is sold"
            ),
            "AllowedValues": ["", "stripe", "fake"],
        },
        **_network(),
        **_protection(),
        **_distribution(),
        **_concurrency(workers),
        "Akismet": _choice("Whether the secret has akismet_key, for sites that ask about spam"),
        "MakeAssetBucket": _choice(
            "Whether the stack has a bucket, for sites that keep assets in S3"
        ),
        "MailFrom": {
            **_text(
                "The address of an identity of SES that letters are sent from; empty for no mail"
            ),
            **constraint("mail_from"),
            "MaxLength": 64,
        },
        "VapidContact": {
            **_text("Whom push services may write to: mailto: and an address, or an https URL"),
            **constraint("vapid_contact"),
            "MaxLength": 128,
        },
        **_watching(),
    }


def _network() -> dict[str, Any]:
    return {
        "SubnetIds": _list("Subnets to run in, to reach a peered database; empty for no VPC"),
        "SecurityGroupIds": _list("Security groups of the functions; only with SubnetIds"),
    }


def _protection() -> dict[str, Any]:
    return {
        "KmsKeyArn": _text(
            "A KMS key for queues, logs and the functions' variables; empty for AWS's own keys"
        ),
        "CodeSigningConfigArn": _text("What signatures the package must bear; empty for none"),
        "TlsPolicy": _text(
            "API Gateway's security policy; empty for its own, which takes TLS 1.0",
            "SecurityPolicy_TLS13_1_2_2021_06",
        ),
        "WebAclArn": {
            **_text("A regional web ACL for the API; empty for the stack's own, or none"),
            "AllowedPattern": "(none|arn:.+)?",
        },
        "AddressRateLimit": _number(
            "Requests in five minutes that the stack's own web ACL takes of an address",
            10_000,
            least=10,
            most=2_000_000_000,
        ),
        "RequireApiKey": _choice(
            "Whether a call needs an API key of the usage plan, as behind a CDN of your own"
        ),
        "ApiRateLimit": _number("Requests a second that the API takes", 1_000, least=1),
        "ApiBurstLimit": _number("Requests at once that the API takes", 2_000, least=1),
        "ApiDailyQuota": _number("Requests a day that an API key may make", 10_000_000, least=1),
    }


def _distribution() -> dict[str, Any]:
    return {
        "Cdn": _choice("Whether CloudFront stands before the API, and nobody passes it by"),
        "CdnDomain": _text("CloudFront's domain of your own; empty for one of its own"),
        "CdnCertificateArn": _text("The certificate of CdnDomain, in us-east-1"),
        "CdnWebAclArn": _text("A web ACL of CloudFront's scope, in us-east-1; empty for none"),
    }


def _concurrency(workers: list[Worker]) -> dict[str, Any]:
    return {
        "ReserveConcurrency": _choice(
            "Whether functions keep their concurrency from each other; the account's limit must "
            "leave 100 beside what all of them reserve"
        ),
        "ApiConcurrency": _number("What the API reserves, with ReserveConcurrency", 200, least=1),
        "ApiMemoryMegabytes": _number(
            "The API's memory, and with it its share of a processor: 1,769 have a whole one",
            int(CONFIG["lambda_memory_size"]),
            least=256,
            most=10_240,
        ),
        # SQS takes no less than 2 and no more than 1,000.
        **{
            concurrency_parameter(worker): _number(
                f"How many {worker.title} workers run at once", 10, least=2, most=1_000
            )
            for worker in workers
        },
    }


def _watching() -> dict[str, Any]:
    return {
        "AlarmTopicArn": _text("An SNS topic that hears of alarms; empty for the dashboard alone"),
        "ApiSlowMilliseconds": _number("The API's p99 that rings an alarm", 1_000, least=1),
        "OldestMessageSeconds": _number("The age of a message that rings one", 900, least=60),
        "AccessLogs": _choice("Whether the API logs each call with its address", default="true"),
        "AccountLogsRole": _choice(
            "Whether the stack sets the role by which API Gateway logs, one for account and region",
            default="true",
        ),
        "LogRetentionDays": {
            **_number("How long logs are kept", 30),
            "AllowedValues": _RETENTION_DAYS,
        },
    }


CONDITIONS: dict[str, Any] = {
    "InVpc": {"Fn::Not": [{"Fn::Equals": [{"Fn::Join": ["", reference("SubnetIds")]}, ""]}]},
    "NamesOrigins": {"Fn::Not": [{"Fn::Equals": [reference("AllowedOrigins"), ""]}]},
    "HasKey": {"Fn::Not": [{"Fn::Equals": [reference("KmsKeyArn"), ""]}]},
    "MakesWebAcl": {"Fn::Equals": [reference("WebAclArn"), ""]},
    "HasWebAcl": {"Fn::Not": [{"Fn::Equals": [reference("WebAclArn"), "none"]}]},
    "ChecksSignature": {"Fn::Not": [{"Fn::Equals": [reference("CodeSigningConfigArn"), ""]}]},
    "NamesTlsPolicy": {"Fn::Not": [{"Fn::Equals": [reference("TlsPolicy"), ""]}]},
    "LogsAccess": {"Fn::Equals": [reference("AccessLogs"), "true"]},
    "MakesLogsRole": {
        "Fn::And": [
            {"Condition": "LogsAccess"},
            {"Fn::Equals": [reference("AccountLogsRole"), "true"]},
        ]
    },
    "MakesAssetBucket": {"Fn::Equals": [reference("MakeAssetBucket"), "true"]},
    "SendsMail": {"Fn::Not": [{"Fn::Equals": [reference("MailFrom"), ""]}]},
    "AsksAkismet": {"Fn::Equals": [reference("Akismet"), "true"]},
    "SendsPush": {"Fn::Not": [{"Fn::Equals": [reference("VapidPublicKey"), ""]}]},
    "TakesPayments": {"Fn::Equals": [reference("Payments"), "stripe"]},
    "HasCdn": {"Fn::Equals": [reference("Cdn"), "true"]},
    "HasCdnDomain": {"Fn::Not": [{"Fn::Equals": [reference("CdnCertificateArn"), ""]}]},
    "HasCdnWebAcl": {"Fn::Not": [{"Fn::Equals": [reference("CdnWebAclArn"), ""]}]},
    # API Gateway sees CloudFront's address; the caller's address is one hop before.
    "CountsCdn": {
        "Fn::And": [{"Condition": "HasCdn"}, {"Fn::Equals": [reference("TrustedHops"), ""]}]
    },
    "Reserves": {"Fn::Equals": [reference("ReserveConcurrency"), "true"]},
    "RequiresApiKey": {"Fn::Equals": [reference("RequireApiKey"), "true"]},
}
# Conditions that only the nested stacks use.
NESTED_CONDITIONS: dict[str, Any] = {
    "HasAlarmTopic": {"Fn::Not": [{"Fn::Equals": [reference("AlarmTopicArn"), ""]}]},
}


def _needs(given: str, needed: str, why: str) -> dict[str, Any]:
    """Return the rule that a value of `given` requires a value of `needed`."""
    has_given, has_needed = (
        {"Fn::Not": [{"Fn::Equals": [reference(each), ""]}]} for each in (given, needed)
    )
    return {
        "RuleCondition": has_given,
        "Assertions": [{"Assert": has_needed, "AssertDescription": f"{given} needs {needed}{why}"}],
    }


# CloudFormation checks these rules before any change. With values that break a rule, the functions
# do not start, or the distribution has no valid domain.
RULES: dict[str, Any] = {
    "KeySetNeedsAudience": _needs("JwksUrl", "JwtAudience", ", or any application's tokens count"),
    "DomainNeedsCertificate": _needs("CdnDomain", "CdnCertificateArn", ""),
    "CertificateNeedsDomain": _needs("CdnCertificateArn", "CdnDomain", ""),
    "PushNeedsContact": _needs("VapidPublicKey", "VapidContact", ""),
    "FakeTakesNoMoney": {
        "RuleCondition": {"Fn::Equals": [reference("Payments"), "fake"]},
        "Assertions": [
            {
                "Assert": {"Fn::Equals": [reference("JwksUrl"), ""]},
                "AssertDescription": "Payments=fake takes no money, and is refused beside JwksUrl",
            }
        ],
    },
}


def shared_variables() -> dict[str, Any]:
    """Return the environment variables that every function takes from the parameters."""
    settings = {_variable(field): reference(_parameter(field)) for field in SETTINGS}
    hops = _variable("trusted_hops")
    counted = {hops: when("CountsCdn", "1", otherwise=settings[hops])}
    bucket = when("MakesAssetBucket", reference("AssetBucket"), otherwise="")
    made = {_variable("asset_bucket"): bucket}
    return {**_resolved(SHARED_SECRETS), **settings, **counted, **made}


def api_variables() -> dict[str, Any]:
    """Return the environment variables that the API's function has beside the shared variables."""
    payments = payment_variables(PAYMENT_SECRETS)
    proofs = {
        _variable("cdn_proof"): when("HasCdn", PROOF, otherwise=reference("CdnProof")),
    }
    made = {**payments, **spam_variables(), **mail_variables(), **proofs, **_subject_key()}
    return {**_resolved(API_SECRETS), **made}


def payment_variables(members: tuple[str, ...] = PAYMENT_SECRETS[:1]) -> dict[str, Any]:
    """Return the variables of a function that calls the payments' provider.

    Only the API receives the provider's events: by default, the secrets of events are "off".
    """
    return {
        _variable("payments"): reference(_parameter("payments")),
        **{_variable(each): when("TakesPayments", "off") for each in PAYMENT_SECRETS[1:]},
        **{name: when("TakesPayments", value) for name, value in _resolved(members).items()},
    }


def spam_variables() -> dict[str, Any]:
    """Return the variables of a function that asks Akismet about spam; none without `Akismet`."""
    return {name: when("AsksAkismet", value) for name, value in _resolved(SPAM_SECRETS).items()}


def push_variables() -> dict[str, Any]:
    """Return the variables of a function that sends push messages, and events to webhooks."""
    secrets = _resolved(PUSH_SECRETS)
    contact = {_variable("vapid_contact"): reference(_parameter("vapid_contact"))}
    pushed = {name: when("SendsPush", value) for name, value in secrets.items()}
    return {**signature_variables(), **contact, **pushed}


def import_variables() -> dict[str, Any]:
    """Return the variables of a function that imports discussions: it makes ids of people."""
    return {**signature_variables(), **_subject_key()}


def _subject_key() -> dict[str, Any]:
    return {_variable("subject_key"): reference(_parameter("subject_key"))}


def signature_variables() -> dict[str, Any]:
    """Return the variables of a function that hashes addresses, signs links or opens secrets."""
    return _resolved(SIGNING_SECRETS)


def mail_variables() -> dict[str, Any]:
    """Return the variables of a function that queues or sends letters."""
    return {_variable("mail_from"): reference(_parameter("mail_from"))}


def notifier_variables() -> dict[str, Any]:
    """Return the variables of a function that writes letters of notifications."""
    return {**signature_variables(), **mail_variables()}


def sender_variables() -> dict[str, Any]:
    """Return the variables of the function that sends letters."""
    named = when("SendsMail", filled(CONFIGURATION_SET_NAME), otherwise="")
    return {**mail_variables(), _variable("mail_configuration_set"): named}


def _variable(field: str) -> str:
    return PREFIX + field.upper()


def _resolved(members: tuple[str, ...]) -> dict[str, Any]:
    return {_variable(each): filled(_REFERENCE.format(member=each)) for each in members}


def _parameter(field: str) -> str:
    return "".join(part.capitalize() for part in field.split("_"))


def _text(description: str, default: str = "") -> dict[str, Any]:
    return {"Type": "String", "Default": default, "Description": description}


def _setting(field: str) -> dict[str, Any]:
    most = MOST_CHARACTERS.get(field, _MOST_CHARACTERS_OF_A_NUMBER)
    return {**_text(SETTINGS[field]), **constraint(field), "MaxLength": most}


def _secret(description: str, least: int, most: int) -> dict[str, Any]:
    pattern = f"(.{{{least},{most}}})?"
    return {**_text(description), "NoEcho": True, "AllowedPattern": pattern, "MaxLength": most}


def _list(description: str) -> dict[str, Any]:
    return {"Type": "CommaDelimitedList", "Default": "", "Description": description}


def _choice(description: str, default: str = "false") -> dict[str, Any]:
    return {**_text(description, default), "AllowedValues": ["true", "false"]}


def _number(
    description: str, default: int, least: int | None = None, most: int | None = None
) -> dict[str, Any]:
    bounds = {"MinValue": least, "MaxValue": most}
    return {
        "Type": "Number",
        "Default": default,
        "Description": description,
        **{name: value for name, value in bounds.items() if value is not None},
    }
