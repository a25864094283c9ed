"""Files of other systems: their characters, XML, HTML and times, in a bounded part of memory.

Public face: `broken`, `html_markdown`, `moments`, `outcomes`, `people`, `spools`, `streams`,
`xml_elements`.
"""
