"""Answers that are a few numbers."""
