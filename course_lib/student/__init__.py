"""The student's side: the front end, what was passed so far, and cells that were not run.

Owns: progress.json.
May import: `curriculum`.
Start with: `progress`.
"""
