"""Publication of pages at an instant, their addresses, and the end of both.

Public face: `addresses`, `discussions`, `forms`, `new_addresses`, `notifications`, `publishing`,
`routes`, `tending`.
"""
