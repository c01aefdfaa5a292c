"""The text of an answer as a syntax tree, searched for what it does and where.

`source.Source` is built up in layers, one a file: `tree` (accesses, loops, tests), `bounds`
(variables, and tests against sizes), `source` (sums, and values of expressions).
May import: nothing of diagnosis.
Start with: `source`, `tree`.
"""
