"""The one small change with which a task's answer is right, found by trying."""
