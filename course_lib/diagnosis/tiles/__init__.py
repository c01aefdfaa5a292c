"""Kernels of tile languages: launched on the tile machine, and why one is wrong.

May import: `codes`, `ideas`, `launches`, `number_patterns`, `repair`, `report`, `slip`,
`source`, `words`.
Start with: `tile_kernel`, then `mended`.
"""
