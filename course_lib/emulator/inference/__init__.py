"""The type of every expression of a kernel, as Numba's compiler finds it, before anything runs.

Owns: which variables and expressions have which types, and what the compiler would refuse.
May import: `budget`, `errors`, `functions`, `language`.
Start with: `infer`, then `flow` (statements) and `values` (which module types which expression).
"""
