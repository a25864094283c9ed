"""Run all of Plaza on this machine: database, queues, workers, schedules and HTTP API."""

import argparse
import contextlib
import dataclasses
import fcntl
import hashlib
import os
import socket
import sqlite3
import tempfile
import threading
import webbrowser
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import waitress
from botocore.exceptions import ClientError
from chalice.app import Chalice
from chalice.local import LocalChalice
from pymongo import MongoClient
from pymongo.errors import ConfigurationError, PyMongoError

from chalicelib.database import Document, is_outage
from chalicelib.database.migration import migrate
from chalicelib.messaging import Queues
from chalicelib.observability.logs import log
from chalicelib.runtime import Runtime
from chalicelib.web.files import CONSOLE, EMBED
from chalicelib.wiring import schema
from deploy.declared import declared_queues, visibility_timeout_seconds
from deploy.openapi.files import ship, written
from deploy.web import build, build_console
from local import demo
from local import recruiting as _recruiting  # noqa: F401 - registers types
from local.announcement import Running, details_of, step
from local.failures import StartupFailure
from local.gateway import Gateway, wsgi_application
from local.local_secrets import FOLDER, local_secrets, make_folder
from local.log_file import log_to
from local.mongod_keeper import kept_mongod
from local.queues import Poller, create_queues
from local.schedules import run_schedules
from local.site import PERSON_PAGE, POST_PAGE, Site, with_site
from local.sqs import LocalSqs

if TYPE_CHECKING:
    from wsgiref.types import WSGIApplication

HTTP_THREADS = 16
QUEUE_PREFIX = "plaza-local-"


def run(options: argparse.Namespace, stack: contextlib.ExitStack) -> None:
    """Start everything and serve until a signal comes; the stack stops it all, in order.

    Raises StartupFailure and InvalidSettings.
    """
    listener = stack.enter_context(_listener(options.port))
    port = listener.getsockname()[1]
    folder = stack.enter_context(_folder(fresh=options.fresh))
    log_to(folder / "plaza.log")
    print("Starting Plaza", flush=True)
    environment = {
        **os.environ,
        **local_secrets(os.environ),
        "PLAZA_QUEUE_PREFIX": os.environ.get("PLAZA_QUEUE_PREFIX") or QUEUE_PREFIX,
        # One process serves what many containers would.
        "PLAZA_MAX_POOL_SIZE": os.environ.get("PLAZA_MAX_POOL_SIZE") or str(2 * HTTP_THREADS),
        "PLAZA_PAYMENTS": _payments(os.environ),
        "PLAZA_MAIL_FOLDER": os.environ.get("PLAZA_MAIL_FOLDER") or str(folder / "mail"),
        **({} if options.empty else _of_newspaper(os.environ, port)),
    }
    own_database = not environment.get("PLAZA_MONGODB_URI")
    if own_database:
        with step("MongoDB"):
            started = stack.enter_context(kept_mongod(folder / "mongodb"))
        environment["PLAZA_MONGODB_URI"] = started
    check_database(environment["PLAZA_MONGODB_URI"])
    database = "ours" if own_database else environment["PLAZA_MONGODB_URI"]
    sqs: Any = stack.enter_context(
        _sqs(folder, f"{database} {environment.get('PLAZA_DATABASE', '')}", fresh=options.fresh)
    )
    waiting = sqs.waiting()
    runtime = _runtime(environment, sqs)
    stack.callback(runtime.database.client.close)
    with step("queues"):
        app = _app(runtime)
        create_queues(sqs, app, visibility_timeout_seconds)
    with step("collections"), said_if_lost():
        migrate(runtime.database, schema.collections(runtime.settings), schema.FAMILIES)
    # Before the schedules: what they write would make a new database look used.
    if not options.empty:
        with step("demo"), said_if_lost():
            address = runtime.settings.public_url or f"http://127.0.0.1:{port}"
            load_demo(runtime, address, is_own=own_database)
    with said_if_lost():
        has_site = demo.is_loaded(runtime)
    build(EMBED)
    build_console(CONSOLE)
    ship(written(app))
    stack.enter_context(_background(app, sqs))
    server = waitress.create_server(
        _served(app, runtime, has_site=has_site),
        sockets=[listener],
        threads=HTTP_THREADS,
        ident=None,
    )
    stack.callback(server.close)
    running = Running(f"http://127.0.0.1:{port}", folder, has_site=has_site)
    used = f"our own, data in {folder / 'mongodb'}" if own_database else "PLAZA_MONGODB_URI"
    details = details_of(app, runtime, used, waiting) if options.verbose else {}
    print(running.announcement(details), flush=True)
    if options.open:
        webbrowser.open(f"{running.address}/")
    # Returns when a signal's SystemExit reaches it.
    server.run()
    print("Stopping Plaza ...", flush=True)


def load_demo(runtime: Runtime, address: str, *, is_own: bool) -> None:
    """Load the demo once; after an outage, try again up to twice if the database is our own.

    A server that was just started cancels operations while it becomes the primary.
    """
    for is_last in (not is_own, False, True):
        try:
            demo.load_once(runtime, address, may_start_over=is_own)
            break
        except PyMongoError as error:
            if is_last or not is_outage(error):
                raise


@contextlib.contextmanager
def said_if_lost() -> Iterator[None]:
    """Raise StartupFailure if the database stops answering meanwhile."""
    try:
        yield
    except PyMongoError as error:
        if not is_outage(error):
            raise
        raise StartupFailure(f"the database stopped answering: {error}") from None


@contextlib.contextmanager
def _listener(port: int) -> Iterator[socket.socket]:
    """Listen on the port before anything is started; raises StartupFailure if it is taken."""
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(("127.0.0.1", port))
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise StartupFailure(
                f"port {port} cannot be used ({reason}); choose another with --port"
            ) from None
        listener.listen()
        yield listener


@contextlib.contextmanager
def _folder(*, fresh: bool) -> Iterator[Path]:
    """Yield the folder of this stack's data, which no other stack uses."""
    if fresh:
        with tempfile.TemporaryDirectory(prefix="plaza-") as folder:
            yield Path(folder)
        return
    make_folder()
    # The kernel drops the lock with the process, however that ends.
    with (FOLDER / "lock").open("a+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise StartupFailure(
                "it is already running from this folder; stop it, or use --fresh"
            ) from None
        yield FOLDER


def check_database(uri: str) -> None:
    """Raise StartupFailure unless a replica set or a sharded cluster answers at the URI."""
    try:
        with MongoClient[Document](uri, serverSelectionTimeoutMS=5_000) as client:
            hello = client.admin.command("hello")
    except (PyMongoError, ConfigurationError, ValueError, OSError) as error:
        reason = str(error).partition(",")[0]
        raise StartupFailure(f"PLAZA_MONGODB_URI cannot be used: {reason}") from None
    if "setName" not in hello and hello.get("msg") != "isdbgrid":
        raise StartupFailure(
            "PLAZA_MONGODB_URI names a standalone server; Plaza needs a replica set "
            "(start mongod with --replSet) for its transactions"
        )


@contextlib.contextmanager
def _sqs(folder: Path, database: str, *, fresh: bool) -> Iterator[LocalSqs]:
    """Yield the queues of a database; each database has a file of its own."""
    digest = hashlib.sha256(database.encode()).hexdigest()[:12]
    file = folder / "queues" / f"{digest}.sqlite"
    file.parent.mkdir(exist_ok=True)
    try:
        sqs = LocalSqs(file)
    except (sqlite3.Error, ClientError) as error:
        raise StartupFailure(
            f"the queues in {file} cannot be used ({error}); without that file, what waits "
            "in them is lost"
        ) from None
    try:
        yield sqs
    finally:
        count = sum(sqs.waiting().values())
        if count and not fresh:
            print(f"{count} messages stay in the queues.", flush=True)
        sqs.close()


def _of_newspaper(environment: Mapping[str, str], port: int) -> dict[str, str]:
    """Return the newspaper's own settings: its feed notifies, and has pages of people and posts."""
    address = environment.get("PLAZA_PUBLIC_URL") or f"http://127.0.0.1:{port}"
    chosen = {
        "PLAZA_SOCIAL_NOTIFICATIONS": "true",
        "PLAZA_POST_PAGE": address + POST_PAGE,
        "PLAZA_PERSON_PAGE": address + PERSON_PAGE,
    }
    return {name: environment.get(name) or value for name, value in chosen.items()}


def _payments(environment: Mapping[str, str]) -> str:
    """Return the provider of payments: the fake, unless real people may sign in."""
    return environment.get("PLAZA_PAYMENTS") or (
        "" if environment.get("PLAZA_JWKS_URL") else "fake"
    )


def _runtime(environment: Mapping[str, str], sqs: Any) -> Runtime:
    runtime = Runtime.from_environment(environment)
    log.setLevel(runtime.settings.log_level)
    queues = Queues(runtime.settings.queue_prefix, client=sqs)
    return dataclasses.replace(runtime, queues=queues)


def _app(runtime: Runtime) -> Chalice:
    """Return an app whose current request is each thread's own."""
    # Late: importing it reads the settings, and its failure must come out as one line.
    from app import create_app

    return create_app(runtime, LocalChalice)


def _served(app: Chalice, runtime: Runtime, *, has_site: bool) -> "WSGIApplication":
    api = wsgi_application(Gateway(app))
    return with_site(Site(runtime.settings, runtime.now), api) if has_site else api


@contextlib.contextmanager
def _background(app: Chalice, sqs: Any) -> Iterator[None]:
    """Run a poller for each queue, and the schedules."""
    stop = threading.Event()
    pollers = [Poller(app, sqs, source) for source in declared_queues(app)]
    threads = [threading.Thread(target=poller.run, args=(stop,)) for poller in pollers]
    threads.append(threading.Thread(target=run_schedules, args=(app, stop)))
    for thread in threads:
        thread.daemon = True
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join(timeout=10)
