# a tile that is no power of two
BM = BN = 96
BK = 8
TM = 6
TN = TM
