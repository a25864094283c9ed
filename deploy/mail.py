"""SES's resources for letters and bounces; the stack has them only with `MailFrom`.

The operator sets the identity up: the DNS of its domain has to allow SES to send.
"""

from typing import Any

from deploy.intrinsics import attribute, filled, reference, when
from deploy.queues import MAIL_QUEUE, MAIL_TOPIC

CONDITION = "SendsMail"
# A fixed name, no reference: without mail, there is no resource to refer to.
CONFIGURATION_SET_NAME = "${AWS::StackName}-letters"
_CONFIGURATION_SET = "MailConfigurationSet"
_REPUTATION = {"ReputationMetricsEnabled": True}
_OWN_ACCOUNT = {"StringEquals": {"aws:SourceAccount": reference("AWS::AccountId")}}
# Bounces, and readers' reports of spam; SES has further kinds.
_EVENTS = ("BOUNCE", "COMPLAINT")


def mail_resources() -> dict[str, Any]:
    """Return the configuration set of letters, and the topic of its events for their queue."""
    resources = {
        _CONFIGURATION_SET: _resource(
            "SES::ConfigurationSet",
            Name=filled(CONFIGURATION_SET_NAME),
            ReputationOptions=_REPUTATION,
        ),
        f"{_CONFIGURATION_SET}Events": _destination(),
        MAIL_TOPIC: _resource("SNS::Topic"),
        f"{MAIL_TOPIC}Policy": _topic_policy(),
        f"{MAIL_TOPIC}Subscription": _resource(
            "SNS::Subscription",
            TopicArn=reference(MAIL_TOPIC),
            Protocol="sqs",
            Endpoint=attribute(MAIL_QUEUE),
            RawMessageDelivery=True,
            # The filter drops SES's first message to a topic, which is plain text.
            FilterPolicyScope="MessageBody",
            FilterPolicy={"eventType": ["Bounce", "Complaint"]},
        ),
    }
    return {name: {**each, "Condition": CONDITION} for name, each in resources.items()}


def _destination() -> dict[str, Any]:
    return {
        **_resource(
            "SES::ConfigurationSetEventDestination",
            ConfigurationSetName=reference(_CONFIGURATION_SET),
            EventDestination={
                "Enabled": True,
                "MatchingEventTypes": list(_EVENTS),
                "SnsDestination": {"TopicARN": reference(MAIL_TOPIC)},
            },
        ),
        # SES publishes to the topic while CloudFormation makes the destination.
        "DependsOn": [f"{MAIL_TOPIC}Policy"],
    }


def _topic_policy() -> dict[str, Any]:
    publishes = {
        "Effect": "Allow",
        "Principal": {"Service": "ses.amazonaws.com"},
        "Action": "sns:Publish",
        "Resource": reference(MAIL_TOPIC),
        "Condition": _OWN_ACCOUNT,
    }
    return _resource(
        "SNS::TopicPolicy",
        Topics=[reference(MAIL_TOPIC)],
        PolicyDocument={"Version": "2012-10-17", "Statement": [publishes]},
    )


def _resource(kind: str, **properties: Any) -> dict[str, Any]:
    return {"Type": f"AWS::{kind}", **({"Properties": properties} if properties else {})}


def sending_statements() -> list[Any]:
    """Return the statements that let a role send letters, from `MailFrom` alone."""
    account = "arn:${AWS::Partition}:ses:${AWS::Region}:${AWS::AccountId}"
    # The added @ gives an empty `MailFrom` a second part, too.
    domain = {"Fn::Select": [1, {"Fn::Split": ["@", filled("${MailFrom}@")]}]}
    # SES's identity is the address, or its domain.
    identities = [
        filled(f"{account}:identity/${{MailFrom}}"),
        {"Fn::Sub": [f"{account}:identity/${{Domain}}", {"Domain": domain}]},
        filled(f"{account}:configuration-set/{CONFIGURATION_SET_NAME}"),
    ]
    allowed = {
        "Effect": "Allow",
        # Plaza sends whole messages, with its own headers.
        "Action": ["ses:SendRawEmail"],
        "Resource": identities,
        "Condition": {"StringEquals": {"ses:FromAddress": reference("MailFrom")}},
    }
    return [when(CONDITION, allowed)]
