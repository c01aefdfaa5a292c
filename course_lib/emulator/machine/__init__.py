"""The SIMT machine: runs a typed kernel for many lanes at a time, and tells what happens.

Owns: statements and expressions on lanes, loads and stores, barriers, and the events of a launch.
May import: `budget`, `errors`, `language`, `state`.
Start with: `machine`, then `statements` and `expressions`, whose tables name the function for each
kind of either; `load_store`; `engine` (TMA and wgmma); `events`: what observers can listen to.
"""
