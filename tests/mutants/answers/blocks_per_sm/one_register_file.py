# EXERCISE blocks_per_sm
def round_up(number, unit):
    return -(-number // unit) * unit


def blocks_per_sm(device, threads, registers, shared_bytes):
    if threads > device.threads_per_block or registers > device.registers_per_thread:
        return 0
    if shared_bytes > device.shared_per_block_bytes:
        return 0
    warps = round_up(threads, device.warp_size) // device.warp_size
    per_warp = round_up(registers * device.warp_size, device.register_unit)
    if round_up(warps, device.partitions) * per_warp > device.registers_per_sm:
        return 0
    by_registers = device.registers_per_sm // (per_warp * warps)  # <- wrong-formula, wrong-result
    best = min(device.blocks_per_sm, device.warps_per_sm // warps, by_registers)
    shared = round_up(shared_bytes + device.shared_reserved_bytes, device.shared_unit_bytes)
    if shared > 0:
        best = min(best, device.shared_per_sm_bytes // shared)
    return best
