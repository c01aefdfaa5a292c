BM, BN = 64, 64
BK = 8
TM, TN = 1, 1  # <- invalid-launch
