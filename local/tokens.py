"""Mint a bearer token for the local server."""

import argparse
import os
from datetime import datetime, timedelta
from typing import Any, get_args

import jwt

from chalicelib.identity import Claims, Role
from chalicelib.runtime import utc_now
from chalicelib.settings import InvalidSettings, Settings
from local.failures import StartupFailure
from local.local_secrets import local_secrets

LIFETIME = timedelta(days=30)


def mint(
    settings: Settings, now: datetime, sub: str, lifetime: timedelta = LIFETIME, **others: Any
) -> str:
    """Return a token that an app with these settings accepts.

    Raises ValueError for an invalid claim, and InvalidSettings without a secret.
    """
    if settings.jwt_secret is None:
        raise InvalidSettings("PLAZA_JWT_SECRET is not set")
    name = others.pop("name", None) or sub.replace("-", " ").title()
    expiry = int((now + lifetime).timestamp())
    claims = Claims(sub=sub, exp=expiry, name=name, **others)
    addressed = {"iss": settings.jwt_issuer, "aud": settings.jwt_audience}
    payload = {
        "iat": int(now.timestamp()),
        **claims.model_dump(exclude_defaults=True),
        **{claim: value for claim, value in addressed.items() if value},
    }
    return jwt.encode(payload, settings.jwt_secret.get_secret_value(), "HS256")


def main() -> None:
    """Print a token for the claims of the command line."""
    parser = argparse.ArgumentParser(prog="script/token", description=__doc__)
    parser.add_argument("--sub", default="demo", help="the user's id (default: demo)")
    parser.add_argument("--name", help="the name shown to others (default: made from the id)")
    roles = "a role, may be repeated; advertisers need --advertiser, publishers and editors --site"
    parser.add_argument("--role", action="append", default=[], choices=get_args(Role), help=roles)
    parser.add_argument("--advertiser", help="the advertiser that an advertiser acts for")
    parser.add_argument(
        "--site", action="append", help="a site that the roles are for, may be repeated"
    )
    given = parser.parse_args()
    try:
        settings = Settings.from_environment({**os.environ, **local_secrets(os.environ)})
        token = mint(
            settings,
            utc_now(),
            given.sub,
            name=given.name,
            roles=given.role,
            advertiser=given.advertiser,
            sites=given.site,
        )
    except (StartupFailure, InvalidSettings) as failure:
        parser.exit(1, f"No token: {failure}\n")
    except ValueError:
        parser.error("--sub takes 1 to 64 of A-Z a-z 0-9 _ | - and --name 1 to 100 characters")
    print(token)


if __name__ == "__main__":
    main()
