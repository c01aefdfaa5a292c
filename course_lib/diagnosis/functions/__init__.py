"""Answers that are plain functions: called, and never launched."""
