"""Where the answers are in a submission, and what text each of them is.

Owns: markers and names, cells as statements, an answer put together from several cells.
May import: `records`.
Start with: `segments` (cells cut into answers), `search` (which one counts), then `assembling`.
"""
