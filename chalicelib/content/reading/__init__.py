"""Reading: pages by address, lists, tags, and previews of drafts.

Public face: `forms`, `lists`, `pages`, `routes`, `views`.
"""
