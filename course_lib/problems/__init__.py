"""What exercises ask for: shapes, inputs, what should come out, and what wrong answers compute.

Owns: what an answer is tried on, and wrong ideas as data: about products, sums, scans, attention,
resident blocks, and a tile that fits.
May import: `curriculum`, `devices`, `emulator`, `registry`, `wording`.
Start with: `problem`, `table`.
"""
