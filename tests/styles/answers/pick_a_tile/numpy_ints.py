# EXERCISE pick_a_tile
import numpy as np

BM = BN = np.int32(128)
BK = np.int32(16)
TM = TN = np.int32(8)
