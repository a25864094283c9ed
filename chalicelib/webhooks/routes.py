"""Webhooks of a site over HTTP, for its publisher alone."""

from datetime import datetime
from typing import Protocol

from chalice.app import Blueprint
from pydantic import Field

from chalicelib.http import (
    Accepted,
    Created,
    NoContent,
    Ok,
    PageQuery,
    Request,
    Route,
    router,
)
from chalicelib.http.callers import Publisher
from chalicelib.http.idempotency import once
from chalicelib.http.paging import Cursors, place_of, position_of
from chalicelib.identity import Principal
from chalicelib.ids import new_id
from chalicelib.limits import NODES
from chalicelib.runtime import Runtime
from chalicelib.sites.ids import SiteId
from chalicelib.sites.permissions import check_publisher
from chalicelib.webhooks import deliveries, hooks, signatures
from chalicelib.webhooks.errors import (
    AddressRefused,
    TooManyHooks,
    UnknownDelivery,
    UnknownHook,
)
from chalicelib.webhooks.forms import (
    MOST,
    DeliveriesAnswer,
    DeliveryId,
    HookAnswer,
    HookChange,
    HookId,
    HooksAnswer,
    NewHook,
    SecretHookAnswer,
    SentAnswer,
    delivery_answer,
    hook_answer,
)
from chalicelib.webhooks.hooks import HookTarget
from chalicelib.webhooks.rows import Hook


class NoteHooks(Protocol):
    """Stores whether a site has hooks, so that features skip sites without hooks."""

    def __call__(self, runtime: Runtime, site: str, *, are_there: bool) -> None:
        """Store `are_there` for a site."""


class DeliveriesQuery(PageQuery):
    """The query of a webhook's deliveries."""

    limit: int = Field(50, ge=1, le=MOST, description="How many deliveries a page has at most.")


def routes(runtime: Runtime, note: NoteHooks) -> Blueprint:
    """Return the blueprint of webhooks."""
    blueprint = Blueprint(__name__)
    route = router(blueprint, runtime, "Webhooks")
    _declare_creation(route, note)
    _declare_hooks(route, note)
    _declare_changes(route)
    _declare_deliveries(route)
    _declare_replay(route)
    return blueprint


def _declare_creation(route: Route, note: NoteHooks) -> None:
    @route(
        "POST",
        "/sites/{site}/webhooks",
        limit=NODES,
        takes_idempotency_key=True,
        raises=(AddressRefused, TooManyHooks, UnknownHook),
    )
    def create_webhook(
        request: Request, site: SiteId, publisher: Publisher, body: NewHook
    ) -> Created[SecretHookAnswer]:
        """Have events of a site sent to an address, from within five seconds on.

        Standard Webhooks 1.0.0 signs events with the `secret` of this answer. Only a repeat of the
        call with its `Idempotency-Key` shows it again, or the secret that has replaced it.
        """
        check_publisher(publisher, site)
        hook, secret = _create(request, site, HookTarget(body.url, body.kinds), publisher, note)
        request.details["webhook"] = hook["_id"]
        return Created({**hook_answer(hook), "secret": secret})


def _create(
    request: Request, site: str, wanted: HookTarget, publisher: Principal, note: NoteHooks
) -> tuple[Hook, str]:
    """Register a hook, once for each Idempotency-Key; return it with its secret."""

    def make(runtime: Runtime) -> tuple[Hook, str]:
        # Noted before the hook, in case of a crash; and again after it, in case another call
        # has removed the last other hook.
        note(runtime, site, are_there=True)
        # The numbers of `runtime` are no secrets: they follow from the key's row.
        hook_id = new_id(runtime.now(), runtime.random)
        made = hooks.register(request.runtime, site, wanted, publisher.id, hook_id)
        note(runtime, site, are_there=True)
        return made

    def find(hook_id: str, _made_at: datetime) -> tuple[Hook, str]:
        hook = hooks.find(request.runtime, site, hook_id)
        # The first attempt may have died before it noted the hook.
        note(request.runtime, site, are_there=True)
        secret = signatures.unseal(request.runtime, hook["secrets"][0])
        if secret is None:
            raise UnknownHook
        return hook, secret

    return once(request, make, find)


def _declare_hooks(route: Route, note: NoteHooks) -> None:
    @route("GET", "/sites/{site}/webhooks")
    def list_webhooks(request: Request, site: SiteId, publisher: Publisher) -> Ok[HooksAnswer]:
        """List the webhooks of a site."""
        check_publisher(publisher, site)
        return Ok({"webhooks": [hook_answer(each) for each in hooks.read(request.runtime, site)]})

    @route("DELETE", "/sites/{site}/webhooks/{webhook}", limit=NODES)
    def remove_webhook(
        request: Request, site: SiteId, webhook: HookId, publisher: Publisher
    ) -> NoContent:
        """Remove a webhook with all that is on its way to it."""
        check_publisher(publisher, site)
        hooks.remove(request.runtime, site, webhook)
        if not hooks.has_hooks(request.runtime, site):
            note(request.runtime, site, are_there=False)
            if hooks.has_hooks(request.runtime, site):
                # A concurrent call has registered a hook.
                note(request.runtime, site, are_there=True)
        return NoContent()


def _declare_changes(route: Route) -> None:
    @route(
        "PATCH",
        "/sites/{site}/webhooks/{webhook}",
        limit=NODES,
        raises=(AddressRefused, UnknownHook),
    )
    def change_webhook(
        request: Request, site: SiteId, webhook: HookId, publisher: Publisher, body: HookChange
    ) -> Ok[HookAnswer]:
        """Change the address or the kinds of a webhook, or switch it on or off.

        While it is off, it gets no events, and its due deliveries fail.
        """
        check_publisher(publisher, site)
        here, given = request.runtime, body.model_dump(include=body.model_fields_set)
        before = hooks.find(here, site, webhook)
        changed = hooks.change(here, site, webhook, given)
        if changed["failing_since"] is None:
            # The hook has no failures now: the deliveries that wait for its receiver become due.
            deliveries.wake(here, before)
        return Ok(hook_answer(changed))

    @route("POST", "/sites/{site}/webhooks/{webhook}/secret", limit=NODES, raises=(UnknownHook,))
    def rotate_webhook_secret(
        request: Request, site: SiteId, webhook: HookId, publisher: Publisher
    ) -> Ok[SecretHookAnswer]:
        """Give a webhook a new secret; for a day, the former one signs as well."""
        check_publisher(publisher, site)
        hook, secret = hooks.rotate(request.runtime, site, webhook)
        return Ok({**hook_answer(hook), "secret": secret})


def _declare_deliveries(route: Route) -> None:
    @route("POST", "/sites/{site}/webhooks/{webhook}/trials", limit=NODES, raises=(UnknownHook,))
    def try_webhook(
        request: Request, site: SiteId, webhook: HookId, publisher: Publisher
    ) -> Accepted[SentAnswer]:
        """Send an event `webhook.trial` to a webhook, even while it is off."""
        check_publisher(publisher, site)
        hook = hooks.find(request.runtime, site, webhook)
        return Accepted({"delivery": deliveries.try_hook(request.runtime, hook)})

    @route("GET", "/sites/{site}/webhooks/{webhook}/deliveries", raises=(UnknownHook,))
    def list_webhook_deliveries(
        request: Request,
        site: SiteId,
        webhook: HookId,
        publisher: Publisher,
        query: DeliveriesQuery,
    ) -> Ok[DeliveriesAnswer]:
        """List the deliveries of a webhook in the last 30 days, the newest first."""
        check_publisher(publisher, site)
        here = request.runtime
        cursors = Cursors(f"webhook:{webhook}", here.settings.signing_keys)
        after = position_of(cursors.position(query))
        hooks.find(here, site, webhook)
        rows, following = deliveries.page(here, webhook, after, query.limit)
        shown = [delivery_answer(each) for each in rows]
        return Ok({"deliveries": shown, "next": cursors.following(place_of(following))})


def _declare_replay(route: Route) -> None:
    @route(
        "POST",
        "/sites/{site}/webhooks/{webhook}/deliveries/{delivery}/replay",
        limit=NODES,
        raises=(UnknownHook, UnknownDelivery),
    )
    def replay_webhook_delivery(
        request: Request,
        site: SiteId,
        webhook: HookId,
        delivery: DeliveryId,
        publisher: Publisher,
    ) -> Accepted[SentAnswer]:
        """Send a delivery again, with the same `webhook-id` and body."""
        check_publisher(publisher, site)
        hooks.find(request.runtime, site, webhook)
        deliveries.replay(request.runtime, webhook, delivery)
        return Accepted({"delivery": delivery})
