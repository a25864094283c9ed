"""What CloudFormation refuses of a parameter: all with which no function would start."""

import re

import pytest

from app import app as declared_app
from chalicelib.settings import InvalidSettings, Settings
from deploy.declared import Worker, declared_functions
from deploy.parameters import SETTINGS, parameters

WORKERS = [each for each in declared_functions(declared_app, "prod") if isinstance(each, Worker)]
PARAMETERS = parameters("prod", WORKERS)
KEY = "B" + "k" * 86
ADDRESSES = ("https://plaza.example", "http://127.0.0.1:8000/api")
NO_ADDRESSES = ("https://plaza.example/api/", "plaza.example", "https://", "https://a b.example")
RIGHT = {
    "public_url": ADDRESSES,
    "frame_url": ADDRESSES,
    "database": ("plaza", "d" * 38, "administration", "my-local_1"),
    "trusted_hops": ("0", "3", "5"),
    "buyer_days": ("30", "99", "100", "730", "2999", "3649", "3650"),
    "person_assets_mib": ("1", "10", "1024", "999999", "1048575", "1048576"),
    "site_assets_mib": ("1", "102400", "1073741824"),
    "prepayment": ("true", "false"),
    "limits": ("off", "1", "0.5", "2.25", "1000"),
    "vapid_public_key": (KEY,),
    "vapid_contact": ("mailto:ops@plaza.example", "https://plaza.example/contact"),
    "mail_from": ("plaza@plaza.example",),
    "jwks_url": ("https://sign-in.example/keys",),
}
WRONG = {
    "public_url": NO_ADDRESSES,
    "frame_url": NO_ADDRESSES,
    "database": ("my.db", "admin", "config", "local", "a b", "d" * 39),
    "trusted_hops": ("6", "10", "-1", "one"),
    "buyer_days": ("0", "9", "20", "29", "3651", "3700", "4000", "10000", "many"),
    "person_assets_mib": ("0", "-1", "1048577", "1050000", "2000000", "1.5"),
    "site_assets_mib": ("0", "1073741825", "2000000000", "10737418240"),
    "prepayment": ("never", "2"),
    "limits": ("0", "0.0", "-1", "1000.5", "1001", "nan", "none"),
    "vapid_public_key": ("key", "A" + KEY[1:], KEY + "k"),
    "vapid_contact": ("ops@plaza.example", "mailto:a b@plaza.example", "https://a b"),
    "mail_from": ("plaza", "Plaza <plaza@plaza.example>"),
    "jwks_url": ("http://sign-in.example/keys", "sign-in.example"),
}


def name_of(field: str) -> str:
    return field.title().replace("_", "")


def cloudformation_takes(field: str, value: str) -> bool:
    """Return whether a value fits its parameter's pattern, all of it, as CloudFormation asks."""
    parameter = PARAMETERS[name_of(field)]
    fits = re.fullmatch(parameter.get("AllowedPattern", ".*"), value) is not None
    return fits and len(value) <= parameter["MaxLength"]


def functions_start(field: str, value: str) -> bool:
    others = {"PLAZA_JWT_AUDIENCE": "plaza"}
    try:
        Settings.from_environment({**others, f"PLAZA_{field.upper()}": value})
    except InvalidSettings:
        return False
    return True


@pytest.mark.parametrize(("field", "value"), [(f, v) for f, all_ in RIGHT.items() for v in all_])
def test_a_value_with_which_functions_start_is_taken(field: str, value: str) -> None:
    assert functions_start(field, value)
    assert cloudformation_takes(field, value)


@pytest.mark.parametrize(("field", "value"), [(f, v) for f, all_ in WRONG.items() for v in all_])
def test_a_value_with_which_no_function_starts_is_refused(field: str, value: str) -> None:
    assert not functions_start(field, value)
    assert not cloudformation_takes(field, value)


@pytest.mark.parametrize("field", SETTINGS)
def test_an_empty_value_is_taken(field: str) -> None:
    assert cloudformation_takes(field, "")


def test_a_pattern_of_numbers_takes_all_of_them_and_no_others() -> None:
    taken = [number for number in range(10_000) if cloudformation_takes("buyer_days", str(number))]

    assert taken == list(range(30, 3_651))
    assert not cloudformation_takes("buyer_days", "0730")
