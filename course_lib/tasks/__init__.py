"""The tasks of the lessons: a file for each, named as its task, that holds its TASK.

Owns: the entries of the tasks, answers included.
May import: `registry`.
Start with: `add_ten`; CONTRIBUTING.md makes one in ten minutes.

A reference that needs NumPy imports it in its own body: lessons are built without it.
"""
