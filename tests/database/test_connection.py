"""The client of a deployment: what the database's address can change, and what not."""

import pytest
from pydantic import SecretStr

from chalicelib.database import connect, in_transaction
from chalicelib.settings import Settings


@pytest.mark.parametrize(
    "reads",
    ["", "&readPreferenceTags=nodeType:ANALYTICS&readPreferenceTags=", "&maxStalenessSeconds=120"],
)
def test_an_address_with_options_of_reads_and_writes_changes_neither(
    settings: Settings, reads: str
) -> None:
    """Transactions read from the primary alone, and a write without a repeat would be lost."""
    uri = settings.mongodb_uri.get_secret_value()
    options = f"readPreference=secondaryPreferred&retryWrites=false&retryReads=false{reads}"
    address = SecretStr(f"{uri}{'&' if '?' in uri else '/?'}{options}")

    database = connect(settings.model_copy(update={"mongodb_uri": address}))
    with database.client as client:
        rows = database["anything"]
        found = in_transaction(database, lambda session: rows.find_one(session=session))

        assert found is None
        assert client.options.retry_writes
        assert client.options.retry_reads
