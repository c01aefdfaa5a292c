"""The course in a browser tab: a page asks, a worker answers, and nothing else runs.

A message of the page reaches `requests.answer` as JSON; `checks`, `figures`, `play` or the record
of progress answers it with what the judge and the emulator find out about a text, which is never
executed; JSON goes back. `bundle` packs the part of the course that all this needs into a zip.
"""
