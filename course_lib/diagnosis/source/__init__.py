"""The text of an answer as a syntax tree, and what stands where in it.

`source.Source` is built up in layers, one a file: `tree` (accesses, loops, tests), `values`
(variables), `bounds` (tests against sizes), `source` (sums); `nodes` looks at pieces of a tree.
May import: nothing of diagnosis.
Start with: `source`, `tree`.
"""
