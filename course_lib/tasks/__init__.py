"""The tasks of the lessons: a file for each, named as its task, that holds its TASK."""
