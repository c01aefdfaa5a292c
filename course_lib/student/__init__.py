"""Who works here and where: the front end, what was passed, cells that were not run.

Start with: `progress`.
May import: X.
"""
