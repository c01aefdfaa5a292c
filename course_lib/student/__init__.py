"""Who works here: the front end that they look at, what they passed, and cells that were not run.

Owns: progress.json.
May import: `curriculum`.
Start with: `progress`.
"""
