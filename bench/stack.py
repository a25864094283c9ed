"""A Plaza of its own for measuring: a real mongod, an app, and events as API Gateway makes them."""

import contextlib
import json
import random
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from chalice.app import Chalice
from pydantic import SecretStr
from pymongo import MongoClient

from app import create_app
from chalicelib import schema
from chalicelib.database import Document, ensure_indexes, open_database
from chalicelib.logs import log
from chalicelib.queues import Queues
from chalicelib.runtime import Runtime, utc_now
from chalicelib.settings import Settings
from local.log_file import log_to
from local.mongod import running_mongod
from local.tokens import mint

_SECRET = "a secret of the bench, which guards nothing"  # noqa: S105


@contextlib.contextmanager
def measured_stack(folder: Path) -> Iterator[Runtime]:
    """Give a runtime over an empty database with its indexes, and stop the server afterwards."""
    # As in a deployment: a line of JSON for every request.
    folder.mkdir(parents=True, exist_ok=True)
    log_to(folder / "plaza.log")
    log.setLevel("INFO")
    with running_mongod(folder / "mongod") as uri, MongoClient[Document](uri) as client:
        settings = Settings(
            mongodb_uri=SecretStr(uri),
            jwt_secret=SecretStr(_SECRET),
            signing_keys=(SecretStr("a signing key of the bench, which guards nothing"),),
        )
        database = open_database(client, settings.database)
        ensure_indexes(database, schema.COLLECTIONS)
        yield Runtime(
            database=database,
            queues=Queues(settings.queue_prefix),
            now=utc_now,
            random=random.Random(7),  # noqa: S311 - the same data every time
            settings=settings,
        )


class Calls:
    """Calls to an app as Lambda makes them, without a socket in between."""

    def __init__(self, runtime: Runtime, sub: str = "ann", **claims: Any) -> None:
        self._app: Chalice = create_app(runtime)
        self._token = mint(runtime.settings, runtime.now(), sub, **claims)

    def __call__(
        self,
        method: str,
        resource: str,
        path: Mapping[str, str],
        query: Mapping[str, str] | None = None,
        body: Mapping[str, Any] | None = None,
    ) -> str:
        """Make a call and return the body of the answer; a failure raises RuntimeError."""
        answer = self._app(self.event(method, resource, path, query, body), None)
        if answer["statusCode"] >= 400:  # noqa: PLR2004 - HTTP's own bound
            raise RuntimeError(answer["body"])
        return str(answer["body"])

    def event(
        self,
        method: str,
        resource: str,
        path: Mapping[str, str],
        query: Mapping[str, str] | None = None,
        body: Mapping[str, Any] | None = None,
    ) -> Document:
        """Return the event of a call, in the form of API Gateway's proxy integration."""
        headers = {"authorization": f"Bearer {self._token}", "content-type": "application/json"}
        return {
            "requestContext": {
                "httpMethod": method,
                "resourcePath": resource,
                "path": resource,
                "identity": {"sourceIp": "127.0.0.1"},
            },
            "headers": headers,
            "multiValueHeaders": {name: [value] for name, value in headers.items()},
            "multiValueQueryStringParameters": {k: [v] for k, v in (query or {}).items()} or None,
            "pathParameters": dict(path),
            "stageVariables": None,
            "isBase64Encoded": False,
            "body": json.dumps(body) if body is not None else "",
        }
