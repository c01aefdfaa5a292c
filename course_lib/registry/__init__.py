"""What an entry of the registry is made of: an exercise or task, its kind, and whether it holds.

Start with: `exercise`.
May import: nothing of the course.
"""
