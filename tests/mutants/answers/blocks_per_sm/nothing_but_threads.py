# EXERCISE blocks_per_sm
def blocks_per_sm(device, threads, registers, shared_bytes):
    warps = -(-threads // 32)
    return min(device.blocks_per_sm, device.warps_per_sm // warps)  # <- wrong-formula, wrong-result, invalid-launch (any line)
