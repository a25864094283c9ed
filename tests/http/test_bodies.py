"""Bodies: what is read, what is refused, and at what cost."""

import pytest
from pydantic import model_validator

from chalicelib.errors import InvalidRequest
from chalicelib.http import requests
from tests.http.support.things import JSON, Thing, fields
from tests.support.http_client import Client


def test_each_faulty_field_of_a_body_is_named(api: Client) -> None:
    reply = api.put("/things/abc", name="too long", size="1", extra=0)

    assert fields(reply) == {
        "name": "string_too_long",
        "size": "int_type",
        "extra": "extra_forbidden",
    }


def test_a_problem_names_twenty_faults_at_most(api: Client) -> None:
    reply = api.put("/things/abc", name="ball", **{f"unknown{number}": 0 for number in range(30)})

    assert reply.status == 422
    assert len(reply.json["errors"]) == 20


def test_an_operator_is_no_value(api: Client) -> None:
    assert fields(api.put("/things/abc", name={"$gt": ""})) == {"name": "string_type"}


def test_a_problem_does_not_repeat_what_was_sent(api: Client) -> None:
    assert b"confidential" not in api.put("/things/abc", name="confidential").body


@pytest.mark.parametrize("body", [b"", b"{", b"nonsense", b"\xff\xfe"])
def test_a_body_that_is_not_json_is_a_400(api: Client, body: bytes) -> None:
    reply = api.request("PUT", "/things/abc", body=body, headers=JSON)

    assert (reply.status, reply.code) == (400, "invalid_json")


def test_a_body_of_another_kind_is_a_422(api: Client) -> None:
    reply = api.request("PUT", "/things/abc", body=b"[1]", headers=JSON)

    assert (reply.status, reply.code) == (422, "invalid_request")


def test_a_body_of_another_content_type_is_a_415(api: Client) -> None:
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    reply = api.request("PUT", "/things/abc", body=b"name=ball", headers=headers)

    assert (reply.status, reply.code) == (415, "unsupported_media_type")


def test_a_call_that_only_reads_may_name_any_content_type(api: Client) -> None:
    headers = {"Content-Type": "application/x-www-form-urlencoded"}

    for method in ("GET", "HEAD", "OPTIONS"):
        assert api.request(method, "/things", headers=headers).status < 300


@pytest.mark.parametrize(
    ("path", "size", "status"),
    [
        ("/things/abc", 65_536, 422),
        ("/things/abc", 65_537, 413),
        ("/lists", 1_000_000, 422),
        ("/lists", 1_000_001, 413),
    ],
)
def test_a_body_may_have_as_many_bytes_as_its_route_says(
    api: Client, path: str, size: int, status: int
) -> None:
    body = b'{"name":"' + b"x" * (size - 11) + b'"}'
    assert len(body) == size

    assert api.request("PUT", path, body=body, headers=JSON).status == status


def unknown_members(count: int) -> bytes:
    return b"{" + b",".join(b'"k%d":1' % number for number in range(count)) + b"}"


@pytest.mark.parametrize(
    "body",
    [
        unknown_members(90_000),
        b'{"name":' + unknown_members(90_000) + b"}",
        b'{"name":[' + b",".join([b"{}"] * 300_000) + b"]}",
        b"[" + b",".join([b"1"] * 400_000) + b"]",
    ],
    ids=["members", "nested", "objects", "elements"],
)
def test_a_body_of_too_many_values_is_refused_before_a_model_sees_it(
    api: Client, body: bytes
) -> None:
    """Pydantic takes 300 ms and more to refuse them one by one."""

    class Seen(Thing):
        @model_validator(mode="before")
        @classmethod
        def _fail(cls, _data: object) -> object:
            raise AssertionError("a model has seen the body")

    with pytest.raises(InvalidRequest) as refused:
        requests.parse(body, Seen, len(body))

    assert [fault.code for fault in refused.value.errors] == ["too_many_values"]
    reply = api.request("PUT", "/lists", body=body, headers=JSON)
    assert fields(reply) == {"": "too_many_values"}


def test_a_text_of_many_colons_and_commas_is_no_body_of_many_values(api: Client) -> None:
    body = b'{"name":"' + b":," * 9_000 + b'"}'

    assert fields(api.request("PUT", "/lists", body=body, headers=JSON)) == {
        "name": "string_too_long"
    }


def test_a_long_body_that_is_not_json_is_a_400(api: Client) -> None:
    reply = api.request("PUT", "/lists", body=b'{"a":' * 20_000, headers=JSON)

    assert (reply.status, reply.code) == (400, "invalid_json")


def test_a_body_beyond_the_gateways_own_limit_gets_the_same_answer(api: Client) -> None:
    body = b" " * (10 * 1024 * 1024 + 1)
    reply = api.request("PUT", "/things/abc", body=body, headers=JSON)

    assert (reply.status, reply.code) == (413, "body_too_large")


def test_numbers_beyond_64_bits_are_named(api: Client) -> None:
    body = b'{"size":9223372036854775808,"x":[1,{"y":-1e400}],"name":9223372036854775807}'

    assert fields(api.request("PUT", "/things/abc", body=body, headers=JSON)) == {
        "size": "number_out_of_range",
        "x.1.y": "number_out_of_range",
    }
