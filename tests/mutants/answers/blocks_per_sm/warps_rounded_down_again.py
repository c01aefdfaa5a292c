# EXERCISE blocks_per_sm
def round_up(number, unit):
    return -(-number // unit) * unit


def blocks_per_sm(device, threads, registers, shared_bytes):
    if threads > device.threads_per_block or registers > device.registers_per_thread:
        return 0
    if shared_bytes > device.shared_per_block_bytes:
        return 0
    warps = max(1, threads // device.warp_size)  # <- wrong-formula, wrong-result
    per_warp = round_up(registers * device.warp_size, device.register_unit)
    if round_up(warps, device.partitions) * per_warp > device.registers_per_sm:
        return 0
    in_file = device.registers_per_sm // device.partitions // per_warp
    limits = min(device.blocks_per_sm, device.warps_per_sm // warps)
    limits = min(limits, in_file * device.partitions // warps)
    shared = round_up(shared_bytes + device.shared_reserved_bytes, device.shared_unit_bytes)
    if shared != 0:
        limits = min(limits, device.shared_per_sm_bytes // shared)
    return limits
