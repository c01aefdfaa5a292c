BM = 16
BN = 512  # <- excess-global-traffic
BK = 16
TM = 4
TN = 8
