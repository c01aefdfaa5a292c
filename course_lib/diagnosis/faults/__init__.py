"""From a fault that the emulator saw, such as a race or a barrier, to its cause.

May import: `launcher`, `launches`, `repair`, `source`, `words`.
Start with: `traced`, `symptoms`.
"""
