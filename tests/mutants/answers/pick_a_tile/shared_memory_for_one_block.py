BM = 128
BN = 128
BK = 128  # <- not-used
TM = 8
TN = 8
