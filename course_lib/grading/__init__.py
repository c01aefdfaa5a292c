"""Grading: from a folder of submissions to a gradebook, without running a student's code."""
