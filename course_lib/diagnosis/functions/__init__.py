"""Answers that are plain functions: called, and never launched.

May import: `repair`, `report`, `source`.
Start with: `called_function` and its `explanations`.
"""
