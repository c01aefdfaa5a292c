"""Observers of a launch: each one counts, judges or records one thing, and changes nothing.

Owns: the meter, the detectors of races and faults, the notes on limits, and their sentences.
May import: `budget`, `errors`, `language`, `machine`, `profile`, `state`.
Start with: `meter`, then `races` (a barrier is missing) and `ordered_races` (atomics, fences, TMA);
`access_costs`, `serial_work`, `coverage`: what a right kernel wastes.
"""
