"""A board that clocks cannot forge: kernels as texts, ranked by what they cost as counted.

Owns: what a board's folder holds, how an entry is judged and counted, and the page.
May import: `checking`, `compiled_counts`, `curriculum`, `diagnosis`, `emulator`, `intrinsics`,
`machine_code`, `measurements`, `own_ladder`, `problems`, `web`, `wording`.
Start with: `entries`.

Nobody's time is taken: a kernel is followed instruction by instruction, so whoever has the folder
and the same compiler finds the same board, byte for byte. How well such a cost ranks kernels is
measured: `course_lib.measurements.counted_cost`.
"""
