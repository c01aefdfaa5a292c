"""Answers that are plain functions: called, and never launched.

May import: `repairs`, `report`.
Start with: `called_function` and its `explanations`, `resident_blocks`.
"""
