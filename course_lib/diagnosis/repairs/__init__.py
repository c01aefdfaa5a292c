"""The one small change with which a task's answer is right, found by trying.

May import: `launcher`, `problems`, `trial`.
Start with: `one_change` (every change there is), `repaired` (which one helps).
"""
