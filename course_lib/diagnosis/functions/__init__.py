"""Answers that are no kernels: plain functions, which are called, and numbers.

May import: `repair`, `report`, `source`.
Start with: `called_function`, then `function_calls`.
"""
