"""Kernels of tile languages: launched on the tile machine, and why one is wrong.

Start with: `tile_kernel`.
"""
