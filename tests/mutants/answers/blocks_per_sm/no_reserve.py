# EXERCISE blocks_per_sm
def round_up(number, unit):
    return -(-number // unit) * unit


def blocks_per_sm(device, threads, registers, shared_bytes):
    if threads > device.threads_per_block:
        return 0
    if registers > device.registers_per_thread:
        return 0
    if shared_bytes > device.shared_per_block_bytes:
        return 0
    warps = (threads + device.warp_size - 1) // device.warp_size
    per_warp = round_up(registers * 32, device.register_unit)
    if round_up(warps, device.partitions) * per_warp > device.registers_per_sm:
        return 0
    file = device.registers_per_sm // device.partitions
    by_registers = file // per_warp * device.partitions // warps
    shared = round_up(shared_bytes, device.shared_unit_bytes)  # <- wrong-formula, wrong-result
    by_shared = device.blocks_per_sm
    if shared:
        by_shared = device.shared_per_sm_bytes // shared
    return min(by_registers, by_shared, device.warps_per_sm // warps, device.blocks_per_sm)
