"""The exercises: a file for each, named as its exercise, that holds its EXERCISE."""
