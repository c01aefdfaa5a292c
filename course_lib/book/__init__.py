"""Turns the lessons into a book: a static site that reads, searches and plays without a kernel."""
