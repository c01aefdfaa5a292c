"""From wrong numbers to their cause: each family of problems with its hypotheses and lines."""
