BM, BN = 32, 32  # <- excess-global-traffic, not-used
BK = 32
TM, TN = 1, 1  # <- not-used
