"""Answers that are a few numbers.

May import: `report`.
Start with: `asked_constants`, `tile_choice`.
"""
