BM = 128
BN = 128
BK = 0  # <- invalid-launch
TM = 8
TN = 8
