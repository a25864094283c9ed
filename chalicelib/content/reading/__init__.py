"""Reading: pages by address, lists, searches, tags, and previews of drafts.

Public face: `forms`, `lists`, `pages`, `routes`, `views`.
"""
