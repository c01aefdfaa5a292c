"""Answers that are a few numbers.

May import: `report`, `told`.
Start with: `tile_choice`.
"""
