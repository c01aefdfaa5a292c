BM = 96
BN = 96
BK = 4  # <- wrong-loop-bound
TM = 6
TN = 6
