"""Answers that are a few numbers.

May import: `report`, `told`.
Start with: `asked_constants`, `tile_choice`.
"""
