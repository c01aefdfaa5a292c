"""Kernels of tile languages: launched on the tile machine, and why one is wrong.

May import: `codes`, `ideas`, `launches`, `number_patterns`, `problems`, `repair`, `report`, `slip`,
`source`, `told`, `words`.
Start with: `tile_kernel`, then `mended`.
"""
