BM = 256
BN = 256
BK = 8
TM = 8
TN = 8  # <- invalid-launch
