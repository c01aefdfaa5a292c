"""A whole program that was pasted: its host part walked as text, its launches on the emulator.

Owns: what of NumPy and of the host's API a program may use here, and what came of running it.
Start with: `run`, then `interpreter`.
"""
