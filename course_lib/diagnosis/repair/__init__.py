"""The smallest change with which a kernel is right, found by trying hundreds in one launch.

May import: `launcher`, `problems`, `trial`.
Start with: `edits` (what is tried), `schemata` (how it is tried at once), `search` (what is found).
"""
