"""The functions that a kernel may call: what type each gives, and what it does on lanes.

Owns: `cuda`, `math`, the builtins, and the twins of `course_lib.intrinsics`.
May import: `budget`, `errors`, `language`, `state`.
Start with: `intrinsics`, whose tables the modules beside it fill; `runner` is the machine to them.
"""
