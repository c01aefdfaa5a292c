def need(device, registers, shared_bytes):
    registers = (registers * device.warp_size + device.register_unit - 1) // device.register_unit
    shared = shared_bytes + device.shared_reserved_bytes
    shared = (shared + device.shared_unit_bytes - 1) // device.shared_unit_bytes
    return registers * device.register_unit, shared * device.shared_unit_bytes


def blocks_per_sm(device, threads, registers, shared_bytes):
    """The largest number of blocks that breaks no limit."""
    if threads > device.threads_per_block:
        return 0
    if registers > device.registers_per_thread:
        return 0
    warps = (threads + device.warp_size - 1) // device.warp_size
    per_warp, per_block = need(device, registers, shared_bytes)
    in_one = device.registers_per_sm // device.partitions // per_warp
    for blocks in range(device.blocks_per_sm, 0, -1):
        enough = blocks * warps <= min(device.warps_per_sm, device.partitions * in_one)
        if enough and blocks * per_block <= device.shared_per_sm_bytes:
            return blocks
    return 0
