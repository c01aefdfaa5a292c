"""What an entry of the registry is: an exercise or task, its kind, and whether it holds together.

Owns: the form of an entry; the entries lie in `exercises/` and `tasks/`.
May import: nothing of the course.
Start with: `exercise`.
"""
