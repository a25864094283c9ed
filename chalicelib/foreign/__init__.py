"""Files of other systems: parsers of characters, XML, HTML and times, in bounded memory.

Public face: `broken`, `entities`, `html_markdown`, `moments`, `outcomes`, `people`, `spools`,
`streams`, `xml_elements`.
"""
