"""The type of every expression of a kernel, before anything runs, as Numba's compiler has it.

Owns: which variables and expressions have which types, and what the compiler would refuse.
May import: `budget`, `errors`, `functions`, `language`.
Start with: `infer`, then `flow` for statements, `values` for the rest, by topics.
"""
