"""The text of an answer as a syntax tree, and what stands where in it."""
