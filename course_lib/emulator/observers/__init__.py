"""Those who listen to a launch: each counts, judges or keeps one thing, and changes nothing.

Owns: the meter, the race detectors, the faults and limits, and their sentences (`*_findings`).
May import: `budget`, `errors`, `language`, `machine`, `options`, `profile`, `state`.
Start with: `meter`, then `races`; `costs`, `waiting` and `coverage` say what a right kernel wastes.
"""
