"""The SIMT machine: runs a typed kernel for many lanes at a time, and tells what happens.

Owns: statements and expressions on lanes, loads and stores, barriers, and the events of a launch.
May import: `budget`, `errors`, `language`, `state`.
Start with: `machine`, then `statements` and `expressions`, whose tables say which function is for
which kind of either; `load_store`; `events` is what others can listen to.
"""
