WARP = 32
REGISTER_UNIT = 256


def by_registers(device, warps, registers):
    per_warp = (registers * WARP + REGISTER_UNIT - 1) // REGISTER_UNIT * REGISTER_UNIT
    resident = 0
    for _ in range(device.partitions):
        resident += device.registers_per_sm // device.partitions // per_warp
    return resident // warps


def by_shared(device, shared_bytes):
    unit = device.shared_unit_bytes
    block = (shared_bytes + device.shared_reserved_bytes + unit - 1) // unit * unit
    return device.shared_per_sm_bytes // block if block > 0 else device.blocks_per_sm


def blocks_per_sm(gpu, block_threads, regs, smem):
    """The smallest of four limits."""
    if block_threads > gpu.threads_per_block or regs > gpu.registers_per_thread:
        return 0
    warps = (block_threads + WARP - 1) // WARP
    smallest = gpu.blocks_per_sm
    for limit in (gpu.warps_per_sm // warps, by_registers(gpu, warps, regs), by_shared(gpu, smem)):
        if limit < smallest:
            smallest = limit
    return smallest
