"""The host's side of `numba.cuda`: a GPU where there is one, else the emulator behind the same API.

Owns: starting a lesson, `emulated()`, launches, arrays on the device, and what this machine can do.
May import: `devices`, `emulator`, `student`, `wording`.
Start with: `runtime`, or `emulated` for programs of others; `host_api` lists what is replaced
where there is no GPU.
"""
