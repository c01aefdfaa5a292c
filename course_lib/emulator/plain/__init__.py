"""Plain Python functions, which are no kernels: walked by Python's own rules, never executed.

Owns: an interpreter for one caller, with bounds on all that it does.
May import: `budget`, `errors`, `language`.
Start with: `interpreter`.
"""
