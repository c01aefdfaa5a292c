BM = 128
BN = 128
BK = 128 / 16  # <- compile-error
TM = 8
TN = 8
