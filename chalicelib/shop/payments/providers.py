"""The providers by their names, and an order's payment begun with one, looked at and cancelled."""

from pymongo import ReturnDocument

from chalicelib.database import Document
from chalicelib.runtime import Runtime
from chalicelib.shop.errors import PaymentsNotSetUp
from chalicelib.shop.payments import records
from chalicelib.shop.payments.fake import FakeProvider
from chalicelib.shop.payments.port import Charge, Name, Provider, Refused, Status
from chalicelib.shop.payments.records import PAYMENTS, Payment


def provider_of(runtime: Runtime, name: Name) -> Provider:
    """Return a provider; raises PaymentsNotSetUp if this deployment cannot use it."""
    if name != runtime.settings.payments:
        raise PaymentsNotSetUp
    if name == "fake":
        return FakeProvider(runtime.database)
    key = runtime.settings.stripe_key
    if key is not None:
        # Imported for the first payment: no other call needs it.
        from chalicelib.shop.payments.stripe import StripeProvider

        return StripeProvider(runtime.settings.stripe_url, key.get_secret_value())
    raise PaymentsNotSetUp


def begin(runtime: Runtime, name: Name, charge: Charge) -> Payment:
    """Begin an order's payment and record it; what was recorded before stays.

    Raises Refused, and Unavailable in an outage: the payment may have begun then.
    """
    started = provider_of(runtime, name).start(charge)
    fresh: Document = {
        "provider": name,
        "intent": started.intent,
        "client_secret": started.client_secret,
        "redirect_url": started.redirect_url,
        "status": "pending",
        "amount_micros": charge.amount_micros,
        "refunded_micros": 0,
        "refunds": [],
    }
    found = PAYMENTS.of(runtime.database).find_one_and_update(
        {"_id": charge.order},
        {"$setOnInsert": fresh},
        upsert=True,
        return_document=ReturnDocument.AFTER,
    )
    assert found is not None  # noqa: S101 - it was made if it was not there
    return found


def look(runtime: Runtime, name: Name, charge: Charge) -> Status:
    """Return how an order's payment stands now, and record it.

    One whose beginning was never recorded is begun again, under the same key: the provider may
    have it, and only a payment that is known can be cancelled.
    """
    try:
        payment = records.find(runtime.database, charge.order) or begin(runtime, name, charge)
    except Refused:
        return "failed"
    status = provider_of(runtime, name).status(charge.order, payment["intent"])
    if status != payment["status"]:
        records.note_status(runtime.database, charge.order, status)
    return status


def cancel(runtime: Runtime, name: Name, charge: Charge) -> Status:
    """Cancel an order's payment; return how it stands then, which may still be paid."""
    try:
        payment = records.find(runtime.database, charge.order) or begin(runtime, name, charge)
    except Refused:
        return "failed"
    status = provider_of(runtime, name).cancel(charge.order, payment["intent"])
    records.note_status(runtime.database, charge.order, status)
    return status
