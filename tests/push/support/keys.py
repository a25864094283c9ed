"""The VAPID keys of the tests."""

from typing import Any

from pydantic import SecretStr

KEYS: dict[str, Any] = {
    "vapid_public_key": (
        "BEccPnWMSQQoW7p-UxGO0PUkresHV9Jb0vjnsNdt-nFM3VIPesqKi5F6zDf1HejwybvjrYWDgucC3CWhLQn3qFg"
    ),
    "vapid_private_key": SecretStr("EjRWeJCrze8SNFZ4kKvN7xI0VniQq83vEjRWeJCrze8"),
    "vapid_contact": "mailto:plaza@plaza.example",
}
OTHER_KEY = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAc"
