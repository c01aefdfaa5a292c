def round_up(number, unit):
    return -(-number // unit) * unit


def blocks_per_sm(device, threads, registers, shared_bytes):
    """How many blocks of this launch one SM of the device holds; 0 if it cannot launch."""
    if threads > device.threads_per_block or registers > device.registers_per_thread:
        return 0
    warps = round_up(threads, device.warp_size) // device.warp_size
    by_warps = device.warps_per_sm // warps

    per_warp = round_up(registers * device.warp_size, device.register_unit)
    per_partition = device.registers_per_sm // device.partitions // per_warp
    by_registers = device.partitions * per_partition // warps

    shared = round_up(shared_bytes + device.shared_reserved_bytes, device.shared_unit_bytes)
    by_shared = device.blocks_per_sm
    if shared > 0:
        by_shared = device.shared_per_sm_bytes // shared
    blocks = 0
    while blocks <= device.blocks_per_sm:  # <- timeout
        if blocks + 1 <= min(by_warps, by_registers, by_shared):
            blocks += 1
    return blocks
