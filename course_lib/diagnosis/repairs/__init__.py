"""The one small change with which a task's answer is right, found by trying.

May import: `faults`, `launcher`, `problems`, `source`, `trial`.
Start with: `one_change` (every change there is), `repaired` (which one helps).
"""
