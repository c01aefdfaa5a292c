# EXERCISE pick_a_tile
BM, BN = 64, 64  # <- wrong-result, wrong-formula, excess-global-traffic (any line)
BK = 8
TM, TN = 4, 4
