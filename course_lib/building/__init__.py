"""The parts of the maintainers' build: one module for each thing that `build` keeps in order.

Owns: the files that are generated; the rules that notebooks keep stand in `tests/lesson_rules`.
May import: `curriculum`, `measurements`, `questions`, `student`, `wording`.
Start with: `project` (what there is to build), then `placed`; `commands/build.py` calls them all.
"""
