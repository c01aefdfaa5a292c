BM = 80
BN = 80
BK = 10
TM = 8
TN = 8  # <- not-used
