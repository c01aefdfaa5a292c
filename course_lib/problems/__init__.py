"""What exercises ask for: shapes, inputs, what should come out, and what wrong answers compute.

Owns: what an answer is tried on, and ideas as data: of products, sums, scans, attention, of
resident blocks and of a tile that fits.
May import: `curriculum`, `devices`, `emulator`, `registry`, `wording`.
Start with: `problem`, `table`.
"""
