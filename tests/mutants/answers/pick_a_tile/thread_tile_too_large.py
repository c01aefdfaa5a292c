# EXERCISE pick_a_tile
BM, BN = 128, 128
BK = 8
TM, TN = 16, 16  # <- invalid-launch, wrong-result, wrong-formula (any line)
