"""The message of a transfer, for the worker that also moves discussions."""

from typing import ClassVar, Literal

from chalicelib.messaging import Message


class RunTransfer(Message):
    """Continue an import or an export of a site."""

    queue: ClassVar[str] = "promotion"
    type: Literal["run-transfer"] = "run-transfer"
    site: str
    transfer: str
