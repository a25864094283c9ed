"""What SES answers, and what it means for a letter; and the folder in its place."""

from collections.abc import Callable, Iterator
from email import message_from_bytes
from email.policy import default
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import boto3
import pytest
from botocore import exceptions
from botocore.exceptions import ClientError
from botocore.parsers import ResponseParserError
from moto.core.models import DEFAULT_ACCOUNT_ID
from moto.ses.models import ses_backends

from chalicelib.errors import Unavailable
from chalicelib.mail import couriers
from chalicelib.mail.couriers import FolderCourier, Outcome, SesCourier, courier_of
from chalicelib.mail.mime import PostedLetter, message_of
from chalicelib.settings import Settings

REGION = "eu-central-1"
SENDER = "plaza@plaza.example"
LETTER = PostedLetter("one", "ann@plaza.example", "Grüße", "Hello.\n", "de", "a-key")


@pytest.fixture
def ses(sqs: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """SES by moto, which has verified the sender."""
    del sqs
    monkeypatch.setenv("AWS_DEFAULT_REGION", REGION)
    couriers._client.cache_clear()
    client: Any = boto3.client("sesv2", region_name=REGION)
    client.create_email_identity(EmailIdentity=SENDER)
    yield client
    client.delete_email_identity(EmailIdentity=SENDER)
    couriers._client.cache_clear()


class Failing:
    """A client of SES that fails."""

    def __init__(self, error: Exception) -> None:
        self._error = error
        self.calls = 0

    def send_email(self, **_asked: Any) -> None:
        self.calls += 1
        raise self._error


def answer(status: int, code: str, message: str = "ann@plaza.example") -> ClientError:
    said: Any = {
        "Error": {"Code": code, "Message": message},
        "ResponseMetadata": {"HTTPStatusCode": status},
    }
    return ClientError(said, "SendEmail")


def outcome_of(monkeypatch: pytest.MonkeyPatch, error: Exception) -> Outcome:
    failing = Failing(error)
    monkeypatch.setattr(couriers, "_client", lambda: failing)
    try:
        return SesCourier(SENDER).carry(LETTER)
    finally:
        assert failing.calls == 1, "a repeat could be a second letter"


@pytest.mark.usefixtures("ses")
def test_ses_sends_a_letter() -> None:
    asked: list[Any] = []
    couriers._client().meta.events.register(
        "provide-client-params.sesv2.SendEmail", lambda params, **_: asked.append(params)
    )

    assert SesCourier(SENDER, "plaza-events").carry(LETTER) == "sent"
    sent = ses_backends[DEFAULT_ACCOUNT_ID][REGION].sent_messages[-1]
    assert sent.raw_data.encode() == message_of(LETTER, SENDER)
    assert (sent.source, sent.destinations) == (SENDER, ["ann@plaza.example"])
    (params,) = asked
    assert params["Content"].keys() == {"Raw"}
    assert params["ConfigurationSetName"] == "plaza-events"
    assert params["EmailTags"] == [{"Name": "address", "Value": "a-key"}]


@pytest.mark.usefixtures("ses")
def test_ses_rejects_a_sender_that_it_does_not_know() -> None:
    assert SesCourier("other@elsewhere.example").carry(LETTER) == "rejected"


@pytest.mark.parametrize(
    "error",
    [
        answer(429, "TooManyRequestsException"),
        answer(400, "SendingPausedException"),
        answer(400, "MailFromDomainNotVerifiedException"),
        answer(403, "AccessDeniedException"),
        answer(503, "ServiceUnavailable"),
        exceptions.EndpointConnectionError(endpoint_url="https://ses.example"),
        exceptions.ConnectTimeoutError(endpoint_url="https://ses.example"),
        exceptions.NoCredentialsError(),
    ],
    ids=lambda error: error.response["Error"]["Code"] if hasattr(error, "response") else "",
)
def test_what_was_certainly_not_accepted_may_be_sent_again(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(Unavailable) as raised:
        outcome_of(monkeypatch, error)

    assert raised.value.__cause__ is None


@pytest.mark.parametrize(
    "error",
    [
        answer(500, "InternalServiceError"),
        answer(504, "GatewayTimeout"),
        exceptions.ReadTimeoutError(endpoint_url="https://ses.example"),
        exceptions.ConnectionClosedError(endpoint_url="https://ses.example"),
        ResponseParserError(),
    ],
    ids=lambda error: type(error).__name__,
)
def test_what_may_have_been_accepted_is_unknown(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert outcome_of(monkeypatch, error) == "unknown"


@pytest.mark.usefixtures("ses")
def test_a_letter_that_fails_at_ses_is_not_sent_again_by_the_library() -> None:
    calls: list[str] = []

    def fail(request: Any, **_: object) -> None:
        calls.append(request.url)
        raise exceptions.ReadTimeoutError(endpoint_url=request.url)

    couriers._client().meta.events.register_first("before-send.sesv2.SendEmail", fail)

    assert SesCourier(SENDER).carry(LETTER) == "unknown"
    assert len(calls) == 1


def test_a_letter_whose_call_has_ended_before_it_began_is_not_sent_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    late: list[Callable[[], object]] = []
    sent: list[object] = []

    def time_out(_seconds: float, work: Callable[[], object]) -> None:
        late.append(work)
        raise TimeoutError

    client = SimpleNamespace(send_email=lambda **asked: sent.append(asked))
    monkeypatch.setattr(couriers, "_client", lambda: client)
    monkeypatch.setattr(couriers, "_WAY", SimpleNamespace(call=time_out))

    with pytest.raises(Unavailable):
        SesCourier(SENDER).carry(LETTER)
    late[0]()

    assert sent == []


@pytest.mark.parametrize("code", ["MessageRejected", "BadRequestException"])
def test_what_ses_will_never_accept_is_rejected(code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert outcome_of(monkeypatch, answer(400, code)) == "rejected"


def test_a_letter_of_a_sender_who_is_not_verified_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    told = "Email address is not verified. The following identities failed the check: plaza.example"

    with pytest.raises(Unavailable):
        outcome_of(monkeypatch, answer(400, "MessageRejected", told))


def test_a_letter_says_nothing_of_itself_in_a_trace() -> None:
    assert "ann" not in repr(LETTER)


def test_a_folder_has_a_file_for_each_letter(tmp_path: Path) -> None:
    for _ in range(2):
        assert FolderCourier(tmp_path / "mail").carry(LETTER) == "sent"

    (file,) = (tmp_path / "mail").iterdir()
    letter = message_from_bytes(file.read_bytes(), policy=default)
    assert (file.name, letter["To"], letter["Subject"]) == ("one.eml", LETTER.to, "Grüße")
    assert letter["Content-Language"] == "de"
    assert letter.get_content() == "Hello.\r\n"


def test_a_deployment_without_a_sender_has_no_courier(settings: Settings) -> None:
    def chosen(**changes: str) -> object:
        return courier_of(settings.model_copy(update=changes))

    assert chosen(mail_from="") is None
    assert isinstance(chosen(), SesCourier)
    assert isinstance(chosen(mail_folder="/tmp/mail"), SesCourier)  # noqa: S108
    assert isinstance(chosen(mail_from="", mail_folder="/tmp/mail"), FolderCourier)  # noqa: S108
