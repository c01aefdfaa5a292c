"""The text of an answer as a syntax tree, searched for what it does and where.

`source.Source` is built up in layers, one a file: `tree` (accesses, loops, tests), `variables`
and `source` (sums).
May import: nothing of diagnosis.
Start with: `source`, `tree`.
"""
