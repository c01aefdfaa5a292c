"""From a fault that the emulator saw, such as a race or a read outside, to its cause.

Start with: `traced` (one launch), `outside` (why a thread left an array), `kept` (of several
findings, those that are causes).
"""
