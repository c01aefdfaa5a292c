"""Turns the lessons into a book: a static site that reads, searches and plays without a kernel.

Owns: the pages of the static site, their links and their live cells.
May import: `building`, `curriculum`, `measurements`, `questions`, `tab`, `web`.
Start with: `site` (the pages, and what Sphinx reads), then `live_cells`.
"""
