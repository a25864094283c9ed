"""A nested stack knows what its resources refer to, by parameters of the same values."""

from typing import Any

from deploy.intrinsics import NO_VALUE, attribute, filled, reference, when
from deploy.nested import nested_stack


def made_of(properties: dict[str, Any]) -> Any:
    resources = {"Thing": {"Type": "AWS::CloudWatch::Alarm", "Properties": properties}}
    parameters = {"Most": {"Type": "Number", "Default": 1}, "Topic": {"Type": "String"}}
    conditions = {
        "HasTopic": {"Fn::Not": [{"Fn::Equals": [reference("Topic"), ""]}]},
        "Unused": {"Fn::Equals": [reference("Another"), ""]},
    }
    return nested_stack("things.json", "Things", resources, parameters, conditions)


def properties_of(nested: Any) -> Any:
    return nested.template["Resources"]["Thing"]["Properties"]


def test_a_reference_becomes_a_parameter_of_the_same_kind() -> None:
    nested = made_of({"Threshold": reference("Most"), "Name": reference("Function")})

    assert properties_of(nested) == {"Threshold": reference("Most"), "Name": reference("Function")}
    assert nested.template["Parameters"] == {
        "Most": {"Type": "Number"},
        "Function": {"Type": "String"},
    }
    assert nested.values == {"Most": reference("Most"), "Function": reference("Function")}


def test_an_attribute_is_a_parameter_beside_the_name_of_its_resource() -> None:
    nested = made_of({"Both": [reference("Queue"), attribute("Queue", "QueueName")]})

    assert properties_of(nested) == {"Both": [reference("Queue"), reference("QueueQueueName")]}
    assert nested.values == {
        "Queue": reference("Queue"),
        "QueueQueueName": attribute("Queue", "QueueName"),
    }


def test_a_text_is_filled_in_with_parameters() -> None:
    nested = made_of(
        {"Body": filled('{"a": "${Queue.QueueName}", "b": "${Queue} ${AWS::Region}"}')}
    )

    assert properties_of(nested) == {
        "Body": filled('{"a": "${QueueQueueName}", "b": "${Queue} ${AWS::Region}"}')
    }
    assert nested.values.keys() == {"Queue", "QueueQueueName"}


def test_the_deployment_has_the_name_of_the_main_stack() -> None:
    nested = made_of({"Name": filled("${AWS::StackName}/api"), "Api": reference("AWS::StackName")})

    assert properties_of(nested) == {
        "Name": filled("${Deployment}/api"),
        "Api": reference("Deployment"),
    }
    assert nested.values == {"Deployment": reference("AWS::StackName")}


def test_a_condition_comes_along_where_it_is_used() -> None:
    nested = made_of({"Actions": when("HasTopic", [reference("Topic")])})

    assert properties_of(nested) == {
        "Actions": {"Fn::If": ["HasTopic", [reference("Topic")], NO_VALUE]}
    }
    assert nested.template["Conditions"] == {
        "HasTopic": {"Fn::Not": [{"Fn::Equals": [reference("Topic"), ""]}]}
    }
    assert nested.values == {"Topic": reference("Topic")}


def test_a_stack_without_conditions_and_references_needs_nothing() -> None:
    nested = made_of({"Threshold": 1})

    assert (nested.values, nested.template["Conditions"]) == ({}, {})
    assert nested.resource()["Properties"] == {"TemplateURL": "things.json", "Parameters": {}}
