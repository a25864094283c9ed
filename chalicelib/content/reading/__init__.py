"""Reading what is published: pages by address, lists, tags, and previews of drafts.

Public face: `answers`, `lists`, `pages`, `routes`, `views`.
"""
