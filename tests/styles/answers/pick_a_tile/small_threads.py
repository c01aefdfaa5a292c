BM: int = 128
BN: int = 64
BK: int = 16
TM, TN = (8, 4)
