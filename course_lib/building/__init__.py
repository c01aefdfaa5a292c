"""The parts of the maintainers' build: one module for each thing that `build` keeps in order.

Owns: the files that are generated, and the rules that notebooks keep.
May import: `checking`, `curriculum`, `findings`, `questions`, `sentences`.
Start with: `project` (what there is to build), then `tasks`; `build.py` calls them all.
"""
