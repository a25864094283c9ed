"""A world with a restore point: people, a shop and pictures in both stores."""

import json
import os
import subprocess
from datetime import datetime
from pathlib import Path
from typing import Any

from chalicelib.assets import upkeep
from chalicelib.assets.blobs import store_of
from chalicelib.database import Document
from chalicelib.runtime import Runtime
from chalicelib.settings import Settings
from deploy.declared import ROOT
from tests.assets.support.files import png
from tests.assets.support.uploading import Uploader, digest
from tests.shop.support.buying import cart_of, check_out, stocked
from tests.shop.support.stripe_stand_in import KEY, SECRETS, Stripe
from tests.support.clock import Clock
from tests.support.http_client import Client
from tests.support.workers import Workers

SITE = "blog"
PAGE = f"{SITE}:moon"
Backup = dict[str, list[Document]]


def names_of(runtime: Runtime) -> list[str]:
    names = runtime.database.list_collection_names(filter={"type": "collection"})
    return sorted(name for name in names if not name.startswith("system."))


def back_up(runtime: Runtime) -> Backup:
    """Return all documents of one moment; nothing else runs."""
    found = {name: list(runtime.database[name].find()) for name in names_of(runtime)}
    return {name: documents for name, documents in found.items() if documents}


def bring_back(runtime: Runtime, backup: Backup) -> None:
    for name in {*backup, *back_up(runtime)}:
        runtime.database[name].delete_many({})
        if name in backup:
            runtime.database[name].insert_many(backup[name])


def order_of(client: Client, cart: str, key: str) -> Any:
    reply = check_out(client, cart, key=key)
    assert reply.status == 201, reply.body
    return reply.json["order"]["id"]


class World:
    """People, a shop and pictures in both stores, up to the restore point and after it."""

    def __init__(self, client: Client, runtime: Runtime, stripe: Stripe, clock: Clock) -> None:
        self.client, self.runtime, self.stripe, self.clock = client, runtime, stripe, clock
        self.owner = client.as_("paula", roles=["publisher"], sites=[SITE])
        self.editor = Uploader(self.owner, f"/content/{SITE}")
        for person in ("ann", "ben"):
            assert client.as_(person).put("/users/me").status in {200, 201}
        page = client.as_("root", roles=["admin"])
        assert page.put(f"/nodes/{PAGE}", title="Moon", url="https://blog.example/").status == 201
        for person in ("ann", "ben"):
            self.comment(person)
        stocked(client, 5, payments="stripe")
        self.cart = cart_of(client, MOBY_HARD=1)
        self.known = order_of(client, self.cart, "before")
        own = Uploader(client.as_("ben"), "/users/me")
        self.in_database = own.upload(png(), "image/png")["id"]
        assert self.owner.post(f"/content/{SITE}/assets/store", store="s3").status == 200
        self.in_bucket = self.upload()

    def comment(self, person: str) -> None:
        reply = self.client.as_(person).post(f"/nodes/{PAGE}/comments", text=f"By {person}")
        assert reply.status == 201, reply.body

    def upload(self) -> str:
        picture = png()
        begun = self.editor.begin(picture, "image/png", part_sha256=[digest(picture)]).json
        store_of(self.runtime, "s3").part(begun["id"], self._handle(begun["id"]), 0, picture)
        reply = self.editor.finish(begun)
        assert reply.status == 200, reply.body
        return str(reply.json["id"])

    def _handle(self, upload: str) -> str:
        found = self.runtime.database["content.upload"].find_one({"_id": upload})
        assert found is not None
        return str(found["handle"])

    def go_on(self, workers: Workers) -> None:
        """Do what the restored database will not know."""
        self.clock.advance(minutes=5)
        self.stripe.seconds = int(self.clock().timestamp())
        self.stripe.pay("pi_1")
        self.lost = order_of(self.client, cart_of(self.client, MOBY_HARD=1), "after")
        self.stripe.pay("pi_2")
        assert self.client.as_("ann").delete("/users/me").status == 202
        path = f"/users/me/assets/{self.in_database}/versions/1"
        assert self.client.as_("ben").delete(path).status == 204
        path = f"/content/{SITE}/assets/{self.in_bucket}/versions/1"
        assert self.owner.delete(path).status == 204
        self.upload()
        workers.drain()
        self.clock.advance(hours=1)
        workers.drain()
        upkeep.sweep_waste(self.runtime)


def audit_line(at: datetime, **fields: Any) -> str:
    """Return a line of the log, by default of ann's erasure."""
    given = {"method": "DELETE", "route": "/users/me", "caller": "ann", "status": 202, "things": {}}
    return json.dumps({"time": at.isoformat(), "message": "audit", **given, **fields})


class Command:
    """The command, as an operator calls it in a folder."""

    def __init__(self, settings: Settings, folder: Path, aws: str) -> None:
        self.folder = folder
        self.environment = {
            **{name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ},
            "AWS_ENDPOINT_URL": aws,
            "AWS_DEFAULT_REGION": "eu-central-1",
            "AWS_ACCESS_KEY_ID": "key",
            "AWS_SECRET_ACCESS_KEY": "secret",
            "PLAZA_MONGODB_URI": settings.mongodb_uri.get_secret_value(),
            "PLAZA_DATABASE": settings.database,
            "PLAZA_QUEUE_PREFIX": settings.queue_prefix,
            "PLAZA_SIGNING_KEYS": "a signing key of the command as long as it has to be",
            "PLAZA_PAYMENTS": "stripe",
            "PLAZA_STRIPE_SITES": "*",
            "PLAZA_STRIPE_URL": settings.stripe_url,
            "PLAZA_STRIPE_KEY": KEY,
            "PLAZA_STRIPE_WEBHOOK_SECRETS": SECRETS[0],
            "PLAZA_ASSET_BUCKET": settings.asset_bucket or "",
        }

    def __call__(self, *arguments: str, **changed: str) -> "subprocess.CompletedProcess[str]":
        command = [str(ROOT / "script" / "restored"), *arguments]
        environment = {**self.environment, **changed}
        return subprocess.run(
            command, cwd=self.folder, env=environment, capture_output=True, text=True, check=False
        )
