"""Publishing, moving, unpublishing and deleting of pages, with their addresses.

Public face: `addresses`, `discussions`, `forms`, `new_addresses`, `notifications`, `publishing`,
`routes`, `tending`.
"""
