"""Secrets of hooks, sealed at rest, and signatures of Standard Webhooks 1.0.0."""

import base64
import hashlib
import hmac
from collections.abc import Sequence
from datetime import datetime, timedelta

from chalicelib import sealing
from chalicelib.runtime import Runtime
from chalicelib.webhooks.rows import MAX_SECRETS, Hook, HookSecret

PREFIX = "whsec_"
# The standard allows 24 to 64 bytes.
SECRET_BYTES = 32
# How long a replaced secret signs beside its successor.
BOTH_SIGN = timedelta(days=1)
_PURPOSE = "webhook"


def new_secret(runtime: Runtime) -> str:
    """Return a new random secret in the form for its receiver: `whsec_` and base64."""
    return PREFIX + base64.b64encode(runtime.random.randbytes(SECRET_BYTES)).decode()


def seal(runtime: Runtime, secret: str) -> HookSecret:
    """Return a sealed secret without an end; raises Misconfigured without PLAZA_SIGNING_KEYS."""
    keys, rng = runtime.settings.signing_keys, runtime.random
    return {"sealed": sealing.seal(secret, _PURPOSE, keys, rng), "until": None}


def unseal(runtime: Runtime, secret: HookSecret) -> str | None:
    """Return a sealed secret; None: no signing key opens it."""
    return sealing.unseal(secret["sealed"], _PURPOSE, runtime.settings.signing_keys)


def rotate(
    secrets: Sequence[HookSecret], replacement: HookSecret, now: datetime
) -> list[HookSecret]:
    """Return the secrets after a rotation: the replacement, and for a day its predecessor."""
    former: list[HookSecret] = [{**each, "until": now + BOTH_SIGN} for each in secrets[:1]]
    return [replacement, *former][:MAX_SECRETS]


def sign(runtime: Runtime, hook: Hook, event: str, seconds: int, body: str) -> str:
    """Return the header `webhook-signature`: a signature for each valid secret; may be empty.

    Omits each secret that no signing key opens. `seconds`: the Unix time of the try.
    """
    signed = f"{event}.{seconds}.{body}".encode()
    now = runtime.now()
    current = [s for s in hook["secrets"] if s["until"] is None or s["until"] > now]
    opened = [unseal(runtime, each) for each in current]
    return " ".join(_signature(each, signed) for each in opened if each is not None)


def _signature(secret: str, signed: bytes) -> str:
    key = base64.b64decode(secret.removeprefix(PREFIX))
    return f"v1,{base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()}"
