"""What was handed in: folders and archives, whose the files are, and their cells as text.

Owns: submissions; whatever a file holds, nothing in it is executed, and nothing hangs.
May import: `records`.
Start with: `submissions` (whose files), then `reading` (bytes to cells).
"""
