"""The tasks of the lessons: a file for each, named as its task, that holds its TASK.

A reference that needs NumPy imports it in its own body: lessons are built without it.
"""
