"""What SES, SNS and the queue of letters may do for each other, and who may send letters."""

import json
from typing import Any

import pytest

from app import app as declared_app
from deploy.declared import declared_functions
from tests.deploy.support.reading import attribute_of, properties

pytestmark = pytest.mark.processes

FUNCTIONS = declared_functions(declared_app, "prod")
OWN = (
    *("MailConfigurationSet", "MailConfigurationSetEvents"),
    *("MailEvents", "MailEventsPolicy", "MailEventsSubscription"),
)


def test_a_deployment_without_a_sender_makes_nothing_of_it(template: Any) -> None:
    for name in OWN:
        assert template["Resources"][name]["Condition"] == "SendsMail"
    assert template["Parameters"]["MailFrom"]["Default"] == ""


def test_one_function_may_send_letters_from_one_address(template: Any) -> None:
    senders = {
        function.name
        for function in FUNCTIONS
        if "ses:" in json.dumps(properties(template, function.role)["Policies"])
    }

    assert senders == {"send_letters"}
    text = json.dumps(properties(template, "SendLettersRole")["Policies"])
    start = text.index('{"Fn::If": ["SendsMail"')
    choice, _ = json.JSONDecoder().raw_decode(text[start:])
    _, allowed, nothing = choice["Fn::If"]
    assert nothing == {"Ref": "AWS::NoValue"}
    assert allowed["Action"] == ["ses:SendRawEmail"]
    assert allowed["Condition"] == {"StringEquals": {"ses:FromAddress": {"Ref": "MailFrom"}}}
    assert "*" not in json.dumps(allowed["Resource"])
    assert len(allowed["Resource"]) == 3


def test_the_functions_that_queue_and_send_know_the_sender(template: Any) -> None:
    knowing = {
        function.name: own["Variables"]["PLAZA_MAIL_FROM"]
        for function in FUNCTIONS
        if (own := properties(template, function.resource).get("Environment"))
        and "PLAZA_MAIL_FROM" in own["Variables"]
    }

    assert knowing == {
        name: {"Ref": "MailFrom"} for name in ("api_handler", "comments_schedules", "send_letters")
    }
    sender = properties(template, "SendLetters")["Environment"]["Variables"]
    named = {"Fn::If": ["SendsMail", {"Fn::Sub": "${AWS::StackName}-letters"}, ""]}
    assert sender["PLAZA_MAIL_CONFIGURATION_SET"] == named


def test_only_the_topic_of_letters_may_put_events_into_their_queue(template: Any) -> None:
    policy = properties(template, "SendLettersQueuePolicy")["PolicyDocument"]
    condition, allowed, _ = policy["Statement"][1]["Fn::If"]

    assert condition == "SendsMail"
    assert allowed["Principal"] == {"Service": "sns.amazonaws.com"}
    assert allowed["Resource"] == attribute_of("SendLettersQueue")
    assert allowed["Condition"] == {"ArnEquals": {"aws:SourceArn": {"Ref": "MailEvents"}}}


def test_only_ses_of_the_account_may_publish_and_the_queue_gets_events_alone(
    template: Any,
) -> None:
    (statement,) = properties(template, "MailEventsPolicy")["PolicyDocument"]["Statement"]
    subscription = properties(template, "MailEventsSubscription")

    assert statement["Principal"] == {"Service": "ses.amazonaws.com"}
    owner = {"StringEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}}
    assert statement["Condition"] == owner
    assert subscription["Endpoint"] == attribute_of("SendLettersQueue")
    assert subscription["RawMessageDelivery"] is True
    assert subscription["FilterPolicyScope"] == "MessageBody"
    assert subscription["FilterPolicy"] == {"eventType": ["Bounce", "Complaint"]}
