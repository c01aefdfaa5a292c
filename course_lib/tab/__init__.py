"""The course in a browser tab: a page asks, a worker answers, and nothing else runs.

Owns: the messages between page and worker, the playground, the scripts in `assets`.
May import: `checking`, `curriculum`, `diagnosis`, `emulator`, `figures`, `host`, `own_ladder`,
`problems`, `registry`, `shown_answers`, `student`, `answer_text`, `verdicts`, `web`, `wording`.
Start with: `requests`, then `checks` (a task or exercise) and `play` (the playground).

A message of the page reaches `requests.answer` as JSON; `checks`, `play` or the record of progress
answers it with what the judge and the emulator find out about a text, which is never executed; JSON
goes back. `programs` walks the host part of a whole program in the same way. `bundle` packs the
part of the course that all this needs into one file.
"""
