"""The one small change with which a plain function is right, found by trying.

May import: `source`.
Start with: `one_change` (every change there is).
"""
