def blocks(device, threads, registers, shared_bytes):  # <- missing-answer (any line)
    """How many blocks fit."""
    return device.warps_per_sm // -(-threads // 32)
