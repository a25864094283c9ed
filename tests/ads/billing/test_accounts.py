"""Accounts and transfers over HTTP: who may, with which key, and how much."""

from typing import Any

import pytest

from chalicelib.ads import accounts
from chalicelib.ads.billing.transfers import Payment, transfer
from chalicelib.runtime import Runtime
from tests.ads.billing.support.transfers import prepared
from tests.support.http_client import Client

ANN, BOB = accounts.of_advertiser("ann"), accounts.of_site("blog")


@pytest.fixture
def funded(runtime: Runtime) -> Runtime:
    """Ann has 100 and Bob has nothing; the bank lacks those 100."""
    for account in (accounts.BANK, ANN, BOB):
        accounts.open_account(runtime.database, account, runtime.now())
    transfer(runtime.database, "top-up", Payment(accounts.BANK, ANN, 100), runtime.now())
    return runtime


def as_admin(client: Client) -> Client:
    return client.as_("boss", roles=["admin"])


def post(client: Client, account: str, key: str, **body: Any) -> Any:
    keyed = Client(client.app, client.token, {**client.headers, "Idempotency-Key": key})
    return keyed.post(f"/accounts/{account}/transfers", **body)


def test_an_admin_tops_an_account_up_from_the_bank(client: Client) -> None:
    reply = post(as_admin(client), "bank", "invoice-1", to_account_id=ANN, amount_micros=500)

    assert reply.status == 201
    assert reply.json == {
        "id": "bank/invoice-1",
        "from_account_id": "bank",
        "to_account_id": ANN,
        "amount_micros": 500,
        "state": "retired",
    }
    owner = client.as_("ann", roles=["advertiser"], advertiser="ann")
    assert owner.get(f"/accounts/{ANN}").json == {
        "id": ANN,
        "balance_micros": 500,
        "pending_transfer_ids": [],
    }
    assert as_admin(client).get("/accounts/bank").json["balance_micros"] == -500


def test_the_same_idempotency_key_gives_the_same_answer_and_moves_nothing(client: Client) -> None:
    admin = as_admin(client)
    first = post(admin, "bank", "invoice-1", to_account_id=ANN, amount_micros=500)

    again = post(admin, "bank", "invoice-1", to_account_id=ANN, amount_micros=500)

    assert (again.status, again.json) == (201, first.json)
    assert admin.get(f"/accounts/{ANN}").json["balance_micros"] == 500


def test_a_key_of_another_transfer_is_refused(client: Client) -> None:
    admin = as_admin(client)
    post(admin, "bank", "invoice-1", to_account_id=ANN, amount_micros=500)

    reply = post(admin, "bank", "invoice-1", to_account_id=ANN, amount_micros=501)

    assert (reply.status, reply.code) == (409, "idempotency_key_reused")


@pytest.mark.parametrize("key", ["", "a b", "x" * 65, "$where", "a.b", "é"])
def test_a_transfer_needs_a_usable_idempotency_key(client: Client, key: str) -> None:
    reply = post(as_admin(client), "bank", key, to_account_id=ANN, amount_micros=1)

    assert (reply.status, reply.code) == (422, "invalid_request")


@pytest.mark.parametrize(
    "body",
    [
        {"to_account_id": ANN, "amount_micros": 0},
        {"to_account_id": ANN, "amount_micros": -1},
        {"to_account_id": ANN, "amount_micros": 1.5},
        {"to_account_id": ANN, "amount_micros": 10**15 + 1},
        {"to_account_id": "advertiser:$gt", "amount_micros": 1},
        {"to_account_id": {"$gt": ""}, "amount_micros": 1},
        {"to_account_id": "bank", "amount_micros": 1},
        {"to_account_id": ANN, "amount_micros": 1, "source": ANN},
        {},
    ],
)
def test_a_transfer_that_makes_no_sense_is_refused(client: Client, body: Any) -> None:
    assert post(as_admin(client), "bank", "one", **body).code == "invalid_request"


@pytest.mark.usefixtures("funded")
def test_owners_alone_move_money_and_see_it(client: Client) -> None:
    owner = client.as_("ann", roles=["advertiser"], advertiser="ann")
    other = client.as_("eve", roles=["advertiser", "publisher"], advertiser="eve", sites=["eve"])

    assert post(owner, ANN, "one", to_account_id=BOB, amount_micros=10).status == 201
    assert post(owner, ANN, "two", to_account_id=BOB, amount_micros=91).code == "insufficient_funds"
    unknown = post(owner, ANN, "three", to_account_id="site:unknown", amount_micros=1)
    assert unknown.code == "unknown_account"
    assert [each["field"] for each in unknown.json["errors"]] == ["to_account_id"]
    assert post(other, ANN, "one", to_account_id=BOB, amount_micros=1).code == "forbidden"
    assert post(owner, "bank", "one", to_account_id=ANN, amount_micros=1).code == "forbidden"
    assert post(client, ANN, "one", to_account_id=BOB, amount_micros=1).code == "unauthenticated"
    assert other.get(f"/accounts/{BOB}").code == "forbidden"
    assert other.get("/accounts/network").code == "forbidden"
    assert other.get("/accounts/site:eve").code == "unknown_account"
    publisher = client.as_("pat", roles=["publisher"], sites=["blog"])
    assert publisher.get(f"/accounts/{BOB}").json["balance_micros"] == 10


def test_a_transfer_that_another_call_is_making_is_refused(funded: Runtime, client: Client) -> None:
    prepared(funded, f"{ANN}/one", 30)

    reply = post(as_admin(client), ANN, "one", to_account_id=BOB, amount_micros=30)

    assert (reply.status, reply.code) == (409, "transfer_in_progress")
    assert reply.headers["Retry-After"] == "1"


def test_an_account_with_many_transfers_under_way_takes_no_other(
    funded: Runtime, client: Client
) -> None:
    marks = [{"transfer_id": f"{number}", "attempt": 1} for number in range(accounts.MAX_PENDING)]
    account = funded.database[accounts.ACCOUNTS.name]
    account.update_one({"_id": ANN}, {"$set": {"pending": marks}})

    reply = post(as_admin(client), ANN, "one", to_account_id=BOB, amount_micros=30)

    assert (reply.status, reply.code) == (409, "too_many_transfers")
    assert reply.headers["Retry-After"] == "1"


def test_an_admin_says_what_share_of_the_money_a_site_has(client: Client) -> None:
    admin, owner = as_admin(client), client.as_("pat", roles=["publisher"], sites=["blog"])
    assert owner.get("/sites/blog").json == {"id": "blog", "revenue_share": 0.7}

    assert admin.put("/sites/blog", revenue_share=0.8125).status == 200

    assert owner.get("/sites/blog").json == {"id": "blog", "revenue_share": 0.8125}
    assert owner.put("/sites/blog", revenue_share=1).code == "forbidden"
    for share in (-0.1, 1.1, 0.70001, "1", None):
        assert admin.put("/sites/blog", revenue_share=share).code == "invalid_request"
