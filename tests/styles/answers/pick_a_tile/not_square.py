TM = TN = 8
BM = 8 * TM
BN = 2 * BM
BK = 8
