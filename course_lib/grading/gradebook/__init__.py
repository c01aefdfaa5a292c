"""What an instructor gets: points, tables for a gradebook, pages, the report on the class.

Owns: which answers count, the rows of the gradebook, and every file that a run writes.
May import: `answers`, `records`, `sealed`, `settings`, `version`.
Start with: `scoring`, then `outputs`.
"""
