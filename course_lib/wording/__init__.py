"""Words: sentences that keep their facts, findings and their codes, errors, counts and lists.

Start with: `sentences`.
May import: nothing of the course.
"""
