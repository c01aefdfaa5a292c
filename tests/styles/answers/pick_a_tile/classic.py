BM, BN, BK, TM, TN = 128, 128, 8, 8, 8
