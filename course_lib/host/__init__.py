"""The host's side of `numba.cuda`: a GPU where there is one, else the emulator behind the same API.

Owns: starting a lesson, launches, arrays on the device, and what this machine can do.
May import: `emulator`, `student`, `wording`.
Start with: `runtime`; `host_api` lists what is replaced where there is no GPU.
"""
