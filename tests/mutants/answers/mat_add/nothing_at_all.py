# <- missing-answer (any line)
