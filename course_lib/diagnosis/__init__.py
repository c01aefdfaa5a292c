"""Finds out what is wrong with an answer, and why; used by checking.py."""
