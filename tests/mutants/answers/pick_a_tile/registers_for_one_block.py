BM = 256
BN = 128
BK = 8
TM = 8
TN = 8  # <- not-used
