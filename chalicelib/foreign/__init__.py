"""Files of other systems: their characters, XML, HTML and times, in a bounded part of memory.

Public face: `broken`, `entities`, `html_markdown`, `moments`, `outcomes`, `people`, `spools`,
`streams`, `xml_elements`.
"""
