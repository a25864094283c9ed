"""A Plaza of its own for measuring: a real mongod, made ready as a deployment makes its own."""

import contextlib
import dataclasses
import os
import random
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pydantic import SecretStr

from app import create_app
from bench.case import Work
from bench.commands import Asked, observe
from chalicelib.database import connect, open_database
from chalicelib.memory import Memory
from chalicelib.messaging import Message, Queues
from chalicelib.observability.logs import log
from chalicelib.runtime import Runtime, utc_now
from chalicelib.settings import Settings
from local.log_file import log_to
from local.mongod import free_port, running_mongod, stop

_SECRET = "a secret of the bench that guards nothing"  # noqa: S105
_SIGNING_KEY = "a signing key of the bench that guards nothing"
_START_TIMEOUT_SECONDS = 60
# Threads of the floors that use several; Plaza's server has the same number.
_CONNECTIONS = 8


class AcceptingQueues(Queues):
    """Queues that take every message at once and for good: what SQS costs is its own."""

    def send(self, *_messages: Message) -> bool:
        """Say that the messages were taken."""
        return True


@dataclass(frozen=True)
class Stage:
    """What a part measures on; `sizes_at_most` leaves the largest of each part's sizes out."""

    runtime: Runtime
    folder: Path
    sizes_at_most: int | None = None

    def sizes(self, *sizes: int) -> tuple[int, ...]:
        """Return the sizes to measure: the smallest ones, or all of them."""
        return sizes[: self.sizes_at_most]

    def with_database(self, name: str) -> "Stage":
        """Return a stage over another new database of the same server.

        Data that are measured in turns with others, and must not lie beside them, lie here.
        """
        settings = self.runtime.settings.model_copy(update={"database": name})
        database = open_database(self.runtime.database.client, name)
        runtime = dataclasses.replace(
            self.runtime, database=database, settings=settings, memory=Memory()
        )
        _make_ready(runtime)
        return dataclasses.replace(self, runtime=runtime)

    def observe(self, work: Work) -> Asked:
        """Do a work; return the commands that it sent to MongoDB."""
        return observe(self.runtime.database.client, work)

    @contextlib.contextmanager
    def server(self, **settings: str) -> Iterator[str]:
        """Run `script/server` over the stage's database; give its URL once it answers.

        `settings` are further environment variables of it.
        """
        own = self.runtime.settings
        port = free_port()
        environment = {
            **os.environ,
            "PLAZA_MONGODB_URI": own.mongodb_uri.get_secret_value(),
            "PLAZA_DATABASE": own.database,
            "PLAZA_JWT_SECRET": _SECRET,
            "PLAZA_SIGNING_KEYS": _SIGNING_KEY,
            "PLAZA_LOG_LEVEL": own.log_level,
            # A few people do here what a town does.
            "PLAZA_LIMITS": "off",
            "PLAZA_PREPAYMENT": "false",
            **settings,
        }
        options = ["--fresh", "--empty", "--port", str(port)]
        command = [sys.executable, "-m", "local.server", *options]
        output = self.folder / "server.out"
        with (
            output.open("ab") as out,
            subprocess.Popen(  # noqa: S603 - the project's own server
                command, env=environment, stdout=out, stderr=out
            ) as process,
        ):
            url = f"http://127.0.0.1:{port}"
            try:
                if not _answers(url, process):
                    raise RuntimeError(output.read_text())
                yield url
            finally:
                stop(process)


def _answers(url: str, process: "subprocess.Popen[bytes]") -> bool:
    """Wait until the server answers; return whether it did in time."""
    deadline = time.monotonic() + _START_TIMEOUT_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        # One that is busy starting may take the connection and answer nothing in time.
        with contextlib.suppress(OSError):
            urllib.request.urlopen(f"{url}/health", timeout=5).close()  # noqa: S310 - our own
            return True
        time.sleep(0.1)
    return False


# A part with 30 databases has more than 20,000 files of collections and indexes, which is the limit
# of some machines: a server that meets it dies. Unused ones are closed after a minute, not ten.
_FEW_FILES = "--wiredTigerEngineConfigString=file_manager=(close_idle_time=60)"


@contextlib.contextmanager
def fresh_stage(folder: Path, sizes_at_most: int | None = None) -> Iterator[Stage]:
    """Give a stage over an empty database, and stop its server afterwards."""
    # As in a deployment: a line of JSON for every request.
    folder.mkdir(parents=True, exist_ok=True)
    log_to(folder / "plaza.log")
    log.setLevel("INFO")
    with running_mongod(folder / "mongod", _FEW_FILES) as uri:
        settings = Settings(
            mongodb_uri=SecretStr(uri),
            jwt_secret=SecretStr(_SECRET),
            signing_keys=(SecretStr(_SIGNING_KEY),),
            max_pool_size=_CONNECTIONS,
            limits=None,
            payments="fake",
        )
        # As a deployment's: with its time-outs and concerns, for Plaza and for the floors.
        database = connect(settings)
        runtime = Runtime(
            database=database,
            queues=AcceptingQueues(settings.queue_prefix),
            now=utc_now,
            random=random.Random(7),  # noqa: S311 - the same data every time
            settings=settings,
        )
        with database.client:
            _make_ready(runtime)
            yield Stage(runtime, folder, sizes_at_most)


def _make_ready(runtime: Runtime) -> None:
    """Make a database ready by a deployment's own command, so that nothing of it is left out."""
    create_app(runtime).handler_map["command"]({"command": "init_db"}, None)
