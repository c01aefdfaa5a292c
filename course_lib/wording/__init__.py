"""The course's words: sentences that keep their facts, findings, errors, counts and lists.

Owns: the codes of findings, and how a sentence is put together.
May import: nothing of the course.
Start with: `sentences`, then `findings`.
"""
