"""Grading: from a folder of submissions to a gradebook, without running a student's code.

Owns: submissions, the engine that judges them, gradebook, pages and report.
May import: `building`, `checking`, `curriculum`, `devices`, `diagnosis`, `emulator`, `entries`,
`errors`, `findings`, `sentences`, `web`.
Start with: `engine`; `batches` is where a text meets the judge.
"""
