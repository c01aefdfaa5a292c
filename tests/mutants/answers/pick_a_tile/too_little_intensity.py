BM = 64
BN = 64  # <- excess-global-traffic
BK = 8
TM = 4
TN = 4
