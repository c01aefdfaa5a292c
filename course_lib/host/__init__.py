"""The host's side of `numba.cuda`: a GPU where there is one, else the emulator.

Start with: `runtime`.
May import: X.
"""
