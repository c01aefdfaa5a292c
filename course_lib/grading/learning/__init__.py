"""The tests before and after a course: what is asked, who answered what, what that says.

Owns: the pairs of items, the notebooks of both forms, and statistics that leave no names.
May import: `answers`, `engine`, `gradebook`, `intake`, `records`, `transfer`.
Start with: `item_pairs`, then `forms`.
"""
