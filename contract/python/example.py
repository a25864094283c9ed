"""Post a comment, page through its thread and read a report, with the client of the document."""

import json
import os
from datetime import UTC, datetime

from plaza_client import AuthenticatedClient
from plaza_client.api.comments import list_thread, post_comment
from plaza_client.api.reports import get_campaign_report
from plaza_client.models import CampaignReport, CommentAnswer, NewComment, ThreadAnswer

NODE = "harbour:moon"
plaza = AuthenticatedClient(os.environ["PLAZA_URL"], token=os.environ["PLAZA_TOKEN"])

posted = post_comment.sync(
    NODE, client=plaza, body=NewComment(text="The moon is up."), idempotency_key="one"
)
assert isinstance(posted, CommentAnswer), posted
for text in ("So it is.", "Since when?", "Since nine."):
    post_comment.sync(NODE, client=plaza, body=NewComment(text=text, parent=posted.id))

texts, cursor = [], None
while True:
    page = list_thread.sync(NODE, posted.id, client=plaza, limit=2, cursor=cursor)
    assert isinstance(page, ThreadAnswer), page
    texts += [comment.text for comment in page.comments]
    cursor = page.next_
    if cursor is None:
        break

report = get_campaign_report.sync(
    os.environ["PLAZA_CAMPAIGN"],
    client=plaza,
    from_=datetime(2026, 1, 1, tzinfo=UTC),
    to=datetime(2026, 12, 31, tzinfo=UTC),
)
assert isinstance(report, CampaignReport), report
print(json.dumps({"texts": texts, "impressions": sum(row.impressions for row in report.rows)}))
