BM = 128
BN = 128
BK = 8
TM = 16
TN = 16  # <- invalid-launch
