"""Those who listen to a launch: each counts, judges or keeps one thing, and changes nothing.

Owns: the meter, the race detectors, the faults and limits, and their sentences.
May import: `budget`, `errors`, `language`, `machine`, `options`, `profile`, `state`.
Start with: `meter`, `races`; `access_costs`, `waiting`, `coverage`: what a right kernel wastes.
"""
