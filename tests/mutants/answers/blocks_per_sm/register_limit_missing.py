def round_up(number, unit):
    return -(-number // unit) * unit


def blocks_per_sm(device, threads, registers, shared_bytes):
    """How many blocks of this launch one SM of the device holds; 0 if it cannot launch."""
    if threads > device.threads_per_block or registers > device.registers_per_thread:
        return 0
    warps = round_up(threads, device.warp_size) // device.warp_size
    by_warps = device.warps_per_sm // warps

    shared = round_up(shared_bytes + device.shared_reserved_bytes, device.shared_unit_bytes)
    by_shared = device.blocks_per_sm
    if shared > 0:
        by_shared = device.shared_per_sm_bytes // shared
    return min(by_warps, by_shared, device.blocks_per_sm)  # <- wrong-formula
