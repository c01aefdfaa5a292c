BM = 130
BN = 128
BK = 8
TM = 8  # <- incomplete-output
TN = 8
