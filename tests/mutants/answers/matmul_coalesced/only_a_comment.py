# I would let threadIdx.x run along the columns.  # <- missing-answer (any line)
