"""Those who listen to a launch: each counts, judges or keeps one thing, and changes nothing.

Owns: the meter, the race detectors, the notes of faults and limits, and the sentences about them.
May import: `budget`, `errors`, `machine`, `profile`, `state`.
Start with: `meter`, then `races`.
"""
