"""One message of each type, as `record` writes it down."""

from datetime import UTC, datetime

from chalicelib.ads.tracking.events import AdEvent
from chalicelib.analytics.hits import Hits, PageHit
from chalicelib.assets.promotion import MoveAssets
from chalicelib.comments.batches.running import RunBatch
from chalicelib.comments.spam_check.origins import CheckSpam
from chalicelib.comments.stores.promotion import MoveNode
from chalicelib.comments.transfers.messages import RunTransfer
from chalicelib.content.publishing.discussions import TellDiscussion
from chalicelib.happenings import Happened
from chalicelib.mail.messages import SendLetter
from chalicelib.marks.messages import CountMark
from chalicelib.messaging import Message
from chalicelib.notifications.events import Notify
from chalicelib.notifications.push_rows import SendPush
from chalicelib.people import jobs as people_jobs
from chalicelib.shop.categories.messages import Relist, Rewrite
from chalicelib.shop.orders.messages import ResumeOrder
from chalicelib.social import messages
from chalicelib.webhooks.messages import SendEvent
from tests.recorded_messages.corpus import recorded_name

_EXAMPLES: tuple[Message, ...] = (
    MoveAssets(owner="harbour-post"),
    MoveNode(node_id="threads"),
    RunBatch(batch="aaneGAECAwQFBgcI"),
    RunTransfer(site="harbour-post", transfer="aaneGAECAwQFBgcI"),
    CheckSpam(comment="threads/j4qqq5sm0f"),
    ResumeOrder(order="aaneGAECAwQFBgcI"),
    TellDiscussion(site="harbour-post", node_id="aaneGAECAwQFBgcI"),
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
    Hits(
        site="harbour-post",
        kind="view",
        hits=(
            PageHit(
                id="aaneGAECAwQFBgcI",
                ts=datetime(2026, 3, 1, 12, 0, 0, 250_000, tzinfo=UTC),
                path="/ferry-timetable",
                visitor="q0Wm3kZ8nB1x",
                ref="news.example",
                campaign="letter/mail",
                node="harbour-post:ferry-timetable",
                title="The ferry's timetable",
            ),
        ),
        device="mobile",
        country="DE",
        user="ann",
        taken_at=datetime(2026, 3, 1, 12, 0, 0, 500_000, tzinfo=UTC),
    ),
    messages.Deliver(post_id="aaneGAECAwQFBgcI"),
    messages.DeliverChunk(post_id="aaneGAECAwQFBgcI", number=3),
    messages.Propagate(post_id="aaneGAECAwQFBgcI"),
    messages.BackFill(reader_id="bob", author_id="ann"),
    people_jobs.Rename(user_id="ann"),
    messages.Rebuild(user_id="ann"),
    messages.Trim(user_id="ann"),
    people_jobs.Erase(user_id="ann"),
    people_jobs.EraseLate(user_id="ann", until=datetime(2026, 3, 1, 12, 0, tzinfo=UTC)),
    people_jobs.Join(site="harbour-post", person_id="g_AAECAwQFBgcICQoLDA0ODw"),
    messages.Refill(user_id="ann", after="aaneGAECAwQFBgcI"),
    Notify(comment="harbour-post:ferry-timetable/0123456789"),
    Notify(comment="harbour-post:moon/0123456789", lasting="6500000000000000000000aa-0123456789"),
    Happened(kind="comment", thing="harbour-post:ferry-timetable/0123456789"),
    messages.RenameRef(ref_id="a-17"),
    messages.NotifyFeed(by="bob", kind="post.reaction", thing="aaneGAECAwQFBgcI"),
    messages.NotifyWatchers(by="ann", thing="aaneGAECAwQFBgcI/bob"),
    messages.DeliverAction(action_id="aaneGAECAwQFBgcI"),
    messages.DeliverActionChunk(action_id="aaneGAECAwQFBgcI", number=3),
    messages.Rerank(action_id="aaneGAECAwQFBgcI", event_id="aaneGAECAwQFBgcJ", after="ann"),
    messages.Cascade(action_id="aaneGAECAwQFBgcI"),
    CountMark(mark_id="post:aaneGAECAwQFBgcI@ann"),
    Relist(site="harbour-post", category="novels"),
    Rewrite(site="harbour-post"),
    SendLetter(letter="aaneGAECAwQFBgcI"),
    SendEvent(delivery="0123456789-created-1767225600000:aaneGAECAwQFBgcI"),
    SendPush(subscription="FMzV4ArBjZAeMVKEu9NzzZ33RuvuzLo065ZxtHmnoKQ"),
)
EXAMPLES = {recorded_name(type(each)): each for each in _EXAMPLES}
