# EXERCISE pick_a_tile
BM = 128
BN = 64
BK = 16
TM = 6  # <- invalid-launch, wrong-formula, integer-arithmetic, wrong-result, incomplete-output (any line)
TN = 4
