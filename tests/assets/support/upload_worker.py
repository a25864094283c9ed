"""A worker in a process of its own, which a test may kill: uploads, versions, and deletions."""

import hashlib
import random
import sys
from itertools import count

from pydantic import SecretStr
from pymongo import MongoClient

from chalicelib.assets import catalogue, uploads
from chalicelib.assets.forms import NewAsset
from chalicelib.database import Document, open_database
from chalicelib.messaging import Queues
from chalicelib.runtime import Runtime, utc_now
from chalicelib.settings import Settings
from tests.assets.support.files import exif, jpeg
from tests.assets.support.uploading import SITE


def main(uri: str, database: str) -> None:
    """Upload, and delete every third asset, until killed."""
    opened = open_database(MongoClient[Document](uri), database)
    settings = Settings(mongodb_uri=SecretStr(uri), database=database)
    runtime = Runtime(opened, Queues("test-"), utc_now, random.SystemRandom(), settings)
    for number in count():
        content = jpeg(before=[exif(6)], after=bytes(300_000))
        asked = NewAsset(
            name=f"No. {number}",
            type="image/jpeg",
            length=len(content),
            sha256=hashlib.sha256(content).hexdigest(),
            strip=number % 2 == 0,
        )
        upload = uploads.begin(runtime, SITE, asked, "eda")["_id"]
        uploads.put_part(runtime, SITE, upload, 0, content)
        asset = uploads.finish(runtime, SITE, upload)
        if number % 3 == 2:
            catalogue.delete(runtime, SITE, asset["_id"])
        print(asset["_id"], flush=True)  # noqa: T201 - the test reads how far it is


if __name__ == "__main__":
    main(*sys.argv[1:])
