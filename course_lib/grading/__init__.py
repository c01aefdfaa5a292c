"""Grading: from a folder of submissions to a gradebook, without running a student's code.

Owns: submissions, the engine that judges them, gradebook, pages and report.
May import: `building`, `checking`, `curriculum`, `diagnosis`, `emulator`, `problems`, `questions`,
`registry`, `web`, `wording`.
Start with: `engine`, which calls the stages in their order.

One folder a stage: `intake` reads what was handed in, `answers` finds the answers in it, `judging`
has them judged, `gradebook` makes points, tables and pages of what was found. `learning` has
the tests before and after a course, and what they say of a class.
"""
