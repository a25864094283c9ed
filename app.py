"""Plaza's Lambda functions: the HTTP API, the queues' workers, the schedules and the commands.

Lambda finds each handler by its name in this module. Then a worker imports its feature, and the API
all routes; `chalicelib/wiring` has the lists of both.
"""

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from chalice.app import Chalice

from chalicelib.deadlines import Outage
from chalicelib.observability import invocations, logs
from chalicelib.runtime import Runtime
from chalicelib.wiring import functions

_runtime = Runtime.from_environment(os.environ)
logs.configure(_runtime.settings.log_level, _runtime.settings.metrics_namespace)
# Made by `__getattr__`.
app: Chalice


def create_app(runtime: Runtime, kind: type[Chalice] = Chalice) -> Chalice:
    """Return an app over this runtime, with the API and all functions.

    Two apps in one process share nothing.
    """
    from chalicelib.http import middleware
    from chalicelib.wiring.routes import ROUTES

    outage = Outage(runtime.database.client)
    app = _frame(kind, outage)
    middleware.install(app, runtime.settings, outage)
    for routes in ROUTES:
        app.register_blueprint(routes(runtime))
    middleware.answer_further_methods(app)
    functions.declare(app, runtime)
    return app


def _frame(kind: type[Chalice], outage: Outage) -> Chalice:
    app = kind(app_name="plaza", configure_logs=False)
    invocations.install(app, outage)
    return app


def __getattr__(name: str) -> Any:
    """Return a handler for Lambda: `app.app` of the API, `app.<name>` of any other function."""
    with _kept_whole():
        if name == "app":
            made: Any = create_app(_runtime)
        else:
            function = _frame(Chalice, Outage(_runtime.database.client))
            functions.declare_one(function, _runtime, name)
            if name not in function.handler_map:
                raise AttributeError(f"module 'app' has no attribute {name!r}")
            made = function.handler_map[name]
    globals()[name] = made
    return made


@contextmanager
def _kept_whole() -> Iterator[None]:
    """Spare the garbage collector what a container loads and keeps until its end.

    Its search took a sixth of the start of an API.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
