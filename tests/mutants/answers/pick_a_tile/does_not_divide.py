# EXERCISE pick_a_tile
BM = 128
BN = 128
BK = 8
TM = 6  # <- wrong-result, wrong-formula, invalid-launch, incomplete-output (any line)
TN = 8
