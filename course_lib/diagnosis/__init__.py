"""Finds out what is wrong with an answer, and why; used by checking.py.

Owns: the way from a wrong output to its cause and line; it knows no exercise. Folders: `launches`
(what one did), `faults` (what the emulator saw, traced), `provenance` (what numbers are made of),
`repair` (the smallest change that helps), `costs`, `tiles` for kernels of tile languages, and
`functions` for answers that are no kernels; beside them `places` (the line where a text does what
is known to be wrong) and `sizes` (numbers that stand for a size). Their sentences and hints lie in
tables, the `words` of each.
May import: `curriculum`, `devices`, `emulator`, `problems`, `registry`, `answer_text`, `tiles`,
`wording`.
Start with: `examination` (the order of it all), `explained` (why numbers are wrong), `points`.
"""
