"""From a fault that the emulator saw, such as a race or a barrier, to its cause.

May import: `codes`, `launcher`, `repair`, `source`, `trial`.
Start with: `traced`.
"""
