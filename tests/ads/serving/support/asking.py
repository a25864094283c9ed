"""Requests for ads, and what they leave."""

from chalicelib.ads.visitors.profiles import PROFILES
from chalicelib.database import Document
from chalicelib.runtime import Runtime
from tests.support.http_client import Client, Reply

ADS = "/ads/blog/banner"


def get(client: Client, query: str = "", **headers: str) -> Reply:
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    return client.request("GET", f"{ADS}?{query}", headers=names)


def shown(client: Client, query: str = "", **headers: str) -> list[str]:
    reply = get(client, query, **headers)
    assert reply.status == 200, reply.body
    return [f"{ad['campaign_id']}/{ad['ad_unit_id']}" for ad in reply.json["ads"]]


def profiles(runtime: Runtime) -> list[Document]:
    return list(runtime.database[PROFILES.name].find())
