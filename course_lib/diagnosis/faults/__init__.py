"""From a fault that the emulator saw, such as a race or a read outside, to its cause.

May import: `codes`, `launcher`, `repair`, `source`, `trial`.
Start with: `traced` (one launch), `out_of_bounds` (why a thread left an array).
"""
