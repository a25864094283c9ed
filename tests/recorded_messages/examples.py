"""One message of each type, as `record` writes it down."""

from datetime import UTC, datetime

from chalicelib.ads.tracking.events import AdEvent
from chalicelib.comments.stores.promotion import MoveNode
from chalicelib.messaging import Message
from chalicelib.social import messages
from tests.recorded_messages.corpus import recorded_name

_EXAMPLES: tuple[Message, ...] = (
    MoveNode(node_id="threads"),
    AdEvent(
        type="conversion",
        decision="aaneGAECAwQFBgcI",
        slot=1,
        campaign_id="north-bikes:winter-service",
        ad_unit_id="winter",
        site_id="harbour-post",
        zone_id="harbour-post:sidebar",
        price_micros=2_500,
        lease_id="aaneGAECAwQFBgcJ",
        ts=datetime(2026, 3, 1, 12, 0, 0, 250_000, tzinfo=UTC),
        is_bot=False,
        order="order-17",
        value_micros=49_000_000,
    ),
    messages.Deliver(post_id="aaneGAECAwQFBgcI"),
    messages.DeliverChunk(post_id="aaneGAECAwQFBgcI", number=3),
    messages.Propagate(post_id="aaneGAECAwQFBgcI"),
    messages.BackFill(reader_id="bob", author_id="ann"),
    messages.Rename(user_id="ann"),
    messages.Rebuild(user_id="ann"),
    messages.Trim(user_id="ann"),
    messages.Erase(user_id="ann"),
    messages.EraseLate(user_id="ann", until=datetime(2026, 3, 1, 12, 0, tzinfo=UTC)),
    messages.Refill(user_id="ann"),
    messages.RenameRef(ref_id="a-17"),
    messages.DeliverAction(action_id="aaneGAECAwQFBgcI"),
    messages.DeliverActionChunk(action_id="aaneGAECAwQFBgcI", number=3),
    messages.Rerank(action_id="aaneGAECAwQFBgcI", event_id="aaneGAECAwQFBgcJ", after="ann"),
    messages.Cascade(action_id="aaneGAECAwQFBgcI"),
)
EXAMPLES = {recorded_name(type(each)): each for each in _EXAMPLES}
