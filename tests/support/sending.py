"""IAM's part in the tests: SQS refuses a function the queues that its policy does not name."""

import sys
from collections.abc import Callable
from typing import Any, TypeVar

from chalice.app import Chalice

from chalicelib.jobs import commands
from chalicelib.jobs.schedules import run_named
from chalicelib.outgoing import Way
from deploy.permissions import SENDS

Result = TypeVar("Result")
# In this process SQS answers when it can, also on a machine that is busy.
PATIENCE_SECONDS = 30.0


class SameThread(Way):
    """A way to an SQS of this process, in the thread of the function at work."""

    def call(self, seconds: float, work: Callable[[], Result]) -> Result:
        """Return what the work returns; it needs no bound."""
        del seconds
        return work()


def function_at_work() -> str | None:
    """Return the Lambda function whose handler is running in this thread, if one is."""
    frame = sys._getframe()
    while frame.f_back is not None:
        frame = frame.f_back
        code = frame.f_code
        if code.co_qualname == "declare.<locals>.command":
            return commands.FUNCTION
        if code is run_named.__code__:
            return str(frame.f_locals["function"])
        if code.co_qualname == "declare_worker.<locals>.handle_messages":
            return str(frame.f_locals["worker"].name)
        if code is Chalice.__call__.__code__:
            return "api_handler"
    return None


def refuse_undeclared(params: dict[str, Any], **_: object) -> None:
    """Raise PermissionError for a message that the function at work may not send.

    A handler of botocore's `before-parameter-build` event.
    """
    function = function_at_work()
    declared = SENDS.get(function or "", ())
    if function and not any(params["QueueUrl"].endswith(f"-{each.queue}") for each in declared):
        raise PermissionError(
            f"{function} may not send to {params['QueueUrl']}: see SENDS in deploy/permissions.py"
        )
