"""Couriers of letters: Amazon SES, or a folder of this machine."""

import threading
from functools import lru_cache
from http import HTTPStatus
from pathlib import Path
from typing import Any, Literal, Protocol

from chalicelib import outgoing
from chalicelib.errors import Unavailable
from chalicelib.mail.mime import PostedLetter, message_of
from chalicelib.settings import Settings

# Whether the provider has accepted a letter, will never accept it, or may have accepted it.
Outcome = Literal["sent", "rejected", "unknown"]
# SES mostly answers within a second.
SECONDS = 10.0
_CONNECT_SECONDS, _READ_SECONDS = 2.0, 8.0
_WAY = outgoing.Way()
_REJECTED = frozenset({"MessageRejected", "BadRequestException"})
# SES's words for a sender domain that is not verified, and for such a recipient in its sandbox.
# Both faults are temporary, so the letter is not rejected.
_UNVERIFIED = "not verified"
_FOLDER_SENDER = "plaza@localhost"
# A tag of letters at SES, which comes back with its events.
ADDRESS_TAG = "address"


class Courier(Protocol):
    """A carrier of letters to their readers."""

    def carry(self, letter: PostedLetter) -> Outcome:
        """Send a letter; raises Unavailable if the provider certainly has not accepted it."""


def courier_of(settings: Settings) -> Courier | None:
    """Return the deployment's courier; None: it sends no mail."""
    if settings.mail_from:
        return SesCourier(settings.mail_from, settings.mail_configuration_set)
    if settings.mail_folder:
        return FolderCourier(Path(settings.mail_folder))
    return None


class SesCourier:
    """Amazon SES, version 2 of its API."""

    def __init__(self, sender: str, configuration_set: str = "") -> None:
        self._sender = sender
        self._configuration_set = configuration_set

    def carry(self, letter: PostedLetter) -> Outcome:
        """Send a letter without any retry: SES cannot recognise a repeat."""
        from botocore.exceptions import BotoCoreError, ClientError
        from botocore.parsers import ResponseParserError

        # The thread sends only if it acquires `decision` before this call does.
        asked, decision = self._request(letter), threading.Lock()

        def send(client: Any) -> None:
            if decision.acquire(blocking=False):
                client.send_email(**asked)

        try:
            client = _client()
            _WAY.call(SECONDS, lambda: send(client))
        except ClientError as error:
            # SES's message may quote the address, so no further error has this error as its cause.
            return _outcome_of(error)
        except (BotoCoreError, ResponseParserError, TimeoutError) as error:
            if decision.acquire(blocking=False) or _never_arrived(error):
                raise Unavailable from None
            return "unknown"
        return "sent"

    def _request(self, letter: PostedLetter) -> dict[str, Any]:
        named = {"ConfigurationSetName": self._configuration_set}
        return {
            "FromEmailAddress": self._sender,
            # Without a `Destination`: the message names its reader.
            "Content": {"Raw": {"Data": message_of(letter, self._sender)}},
            "EmailTags": [{"Name": ADDRESS_TAG, "Value": letter.address_key}],
            **(named if self._configuration_set else {}),
        }


def _outcome_of(error: Any) -> Outcome:
    """Return the outcome of SES's error; raises Unavailable if a later attempt may succeed."""
    response: Any = error.response
    told = response.get("Error", {})
    if told.get("Code") in _REJECTED:
        if _UNVERIFIED in told.get("Message", ""):
            raise Unavailable from None
        return "rejected"
    status = response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    if status in {HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.TOO_MANY_REQUESTS} or (
        HTTPStatus.BAD_REQUEST <= status < HTTPStatus.INTERNAL_SERVER_ERROR
    ):
        raise Unavailable from None
    return "unknown"


def _never_arrived(error: Exception) -> bool:
    """Return whether a request certainly did not reach SES."""
    from botocore import exceptions

    return isinstance(
        error,
        (
            exceptions.ConnectionError,
            exceptions.NoCredentialsError,
            exceptions.PartialCredentialsError,
            exceptions.NoRegionError,
            exceptions.ParamValidationError,
        ),
    )


@lru_cache(maxsize=1)
def _client() -> Any:
    """Return the container's client; imported late, since one worker alone needs it."""
    import boto3
    from botocore.config import Config

    name: Any = "sesv2"
    return boto3.client(
        name,
        config=Config(
            connect_timeout=_CONNECT_SECONDS,
            read_timeout=_READ_SECONDS,
            # A repeat could be a second letter.
            retries={"mode": "standard", "total_max_attempts": 1},
        ),
    )


class FolderCourier:
    """A folder of this machine with a file for each letter, for trials."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def carry(self, letter: PostedLetter) -> Outcome:
        """Write a letter as a file, whole or not at all."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = self._folder / f"{letter.id}.eml"
        unfinished = file.with_suffix(".part")
        unfinished.write_bytes(message_of(letter, _FOLDER_SENDER))
        unfinished.rename(file)
        return "sent"
