"""Plain Python functions, which are no kernels: interpreted by Python's rules, never executed.

Owns: an interpreter for one caller, with bounds on all that it does.
May import: `budget`, `errors`, `language`.
Start with: `interpreter`.
"""
