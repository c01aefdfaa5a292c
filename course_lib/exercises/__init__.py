"""The exercises: a file for each, named as its exercise, that holds its EXERCISE.

Owns: the entries of the graded exercises; their answers are in `solutions/`.
May import: `registry`.
Start with: `mat_add`; `course_lib/registry/exercise.py` explains each field.
"""
