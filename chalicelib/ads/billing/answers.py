"""The forms in which the API answers about accounts and transfers."""

from typing import Annotated, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from chalicelib.ads.accounts import MAX_PENDING, Account, AccountId
from chalicelib.ads.billing.transfers import State, Transfer

# An account and a client's key; or a settlement, by its day, campaign, site and payee.
TransferId = Annotated[str, Field(max_length=400, examples=["advertiser:north-bikes/refund-7"])]


class AccountAnswer(TypedDict):
    """An account: an advertiser's funds, or what a site or the network has earned."""

    id: AccountId
    balance_micros: Annotated[
        int, Field(description="In millionths of the currency. The bank's alone may be negative.")
    ]
    pending_transfer_ids: Annotated[
        list[TransferId], Field(max_length=MAX_PENDING, description="The transfers under way.")
    ]
    credit_micros: NotRequired[
        Annotated[
            int,
            Field(description="What its campaigns may take on beyond the balance, if bounded."),
        ]
    ]
    committed_micros: NotRequired[
        Annotated[
            int,
            Field(
                description="What its campaigns have been given to spend and have not paid yet. "
                "Present with `credit_micros`."
            ),
        ]
    ]


class TransferAnswer(TypedDict):
    """A transfer between two accounts."""

    id: TransferId
    from_account_id: AccountId
    to_account_id: AccountId
    amount_micros: Annotated[int, Field(description="In millionths of the currency.")]
    state: Annotated[State, Field(description="`retired`: the money has arrived.")]


def account_answer(stored: Account) -> AccountAnswer:
    """Return an account as the API shows it; its funds only with a credit line."""
    answer: AccountAnswer = {
        "id": stored["_id"],
        "balance_micros": stored["balance_micros"],
        "pending_transfer_ids": [mark["transfer_id"] for mark in stored["pending"]],
    }
    if "credit_micros" in stored:
        answer["credit_micros"] = stored["credit_micros"]
    if "committed_micros" in stored:
        answer["committed_micros"] = stored["committed_micros"]
    return answer


def transfer_answer(stored: Transfer) -> TransferAnswer:
    """Return a transfer as the API shows it."""
    return {
        "id": stored["_id"],
        "from_account_id": stored["source"],
        "to_account_id": stored["target"],
        "amount_micros": stored["amount_micros"],
        "state": stored["state"],
    }
