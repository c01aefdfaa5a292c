BM = 128  # <- missing-answer (any line)
BN = 128
TM = 8
TN = 8
