"""The functions that a kernel may call: what type each gives, and what it does on lanes.

Owns: `cuda`, `math`, the builtins, and the twins of `course_lib.intrinsics`.
May import: `budget`, `errors`, `language`, `machine`, `state`.
Start with: `math_functions`, then `hopper_functions` (mbarriers, TMA, clusters); each fills the
tables of `language.intrinsics`.
"""
