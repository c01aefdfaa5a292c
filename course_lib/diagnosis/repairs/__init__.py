"""The one small change with which a task's answer is right, found by trying.

Start with: `one_change` (every change there is), `repaired` (which one helps).
"""
