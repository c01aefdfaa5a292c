"""Finds out what is wrong with an answer, and why; used by checking.py.

Owns: what an answer is tried on, and the way from a wrong output to its cause and line.
May import: `callers`, `curriculum`, `devices`, `emulator`, `entries`, `exercise`, `findings`,
`kinds`, `number_formats`, `occupancy`, `sentences`.
Start with: `cases` (what to try), `examination` (the launches and the conclusions), `causes`.
"""
