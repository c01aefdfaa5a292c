"""Kernels of tile languages: launched on the tile machine, and why one is wrong.

May import: `launches`, `number_patterns`, `repair`, `report`, `source`, `words`.
Start with: `tile_kernel`, then `tile_launches`.
"""
