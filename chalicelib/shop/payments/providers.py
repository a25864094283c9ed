"""Start, look at and cancel an order's payment at its provider, and record the outcome."""

from pymongo import ReturnDocument

from chalicelib.database import Document
from chalicelib.runtime import Runtime
from chalicelib.shop.errors import PaymentsNotSetUp
from chalicelib.shop.payments import records
from chalicelib.shop.payments.fake import FakeProvider
from chalicelib.shop.payments.port import Charge, Name, PaymentRefused, Provider, Started, Status
from chalicelib.shop.payments.records import PAYMENTS, OrderPayment


def check_sells(runtime: Runtime, name: Name) -> None:
    """Raise PaymentsNotSetUp unless new orders use this provider, with any key that it needs."""
    if name != runtime.settings.payments:
        raise PaymentsNotSetUp
    provider_of(runtime, name)


def provider_of(runtime: Runtime, name: Name) -> Provider:
    """Return a provider by name, even if the deployment names another for new orders.

    Raises PaymentsNotSetUp if the deployment has no key for it.
    """
    if name == "fake":
        return FakeProvider(runtime.database)
    key = runtime.settings.stripe_key
    if key is not None:
        # Imported for the first payment: no other call needs it.
        from chalicelib.shop.payments.stripe import StripeProvider

        return StripeProvider(runtime.settings.stripe_url, key.get_secret_value())
    raise PaymentsNotSetUp


def begin(runtime: Runtime, name: Name, charge: Charge) -> OrderPayment:
    """Start an order's payment and record it; an earlier record stays.

    An amount of 0 succeeds without the provider. Raises PaymentRefused, PaymentsNotSetUp, and
    Unavailable in an outage, after which the payment may have started.
    """
    is_free = not charge.amount_micros
    started = Started("") if is_free else provider_of(runtime, name).start(charge)
    fresh: Document = {
        "provider": name,
        "intent": started.intent,
        "client_secret": started.client_secret,
        "redirect_url": started.redirect_url,
        "status": "succeeded" if is_free else "pending",
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
    assert found is not None  # noqa: S101 - an upsert
    return found


def look(runtime: Runtime, name: Name, charge: Charge) -> Status:
    """Return the current status of an order's payment, and record it.

    Without a record, start the payment under the same key: an earlier start may have failed after
    its effect, and Plaza can cancel only a recorded payment. A refused start is `failed`.
    """
    try:
        payment = records.find(runtime.database, charge.order) or begin(runtime, name, charge)
    except PaymentRefused:
        return "failed"
    if not charge.amount_micros:
        return "succeeded"
    status = provider_of(runtime, name).status(charge.order, payment["intent"])
    if status != payment["status"]:
        records.note_status(runtime.database, charge.order, status)
    return status


def cancel(runtime: Runtime, name: Name, charge: Charge) -> Status:
    """Cancel an order's payment, and record and return its status after the call.

    `succeeded`: the buyer paid first, or the amount is 0. `failed`: the payment failed, or the
    provider refused to start it.
    """
    if not charge.amount_micros:
        return "succeeded"
    try:
        payment = records.find(runtime.database, charge.order) or begin(runtime, name, charge)
    except PaymentRefused:
        return "failed"
    status = provider_of(runtime, name).cancel(charge.order, payment["intent"])
    records.note_status(runtime.database, charge.order, status)
    return status
