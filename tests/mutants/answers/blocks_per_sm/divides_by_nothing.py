# EXERCISE blocks_per_sm
def round_up(number, unit):
    return -(-number // unit) * unit


def blocks_per_sm(device, threads, registers, shared_bytes):
    if (
        threads > device.threads_per_block
        or registers > device.registers_per_thread
        or shared_bytes > device.shared_per_block_bytes
    ):
        return 0
    warps = -(-threads // device.warp_size)
    per_warp = round_up(registers * device.warp_size, device.register_unit)
    if round_up(warps, device.partitions) * per_warp > device.registers_per_sm:
        return 0
    in_file = device.registers_per_sm // device.partitions // per_warp
    by_registers = in_file * device.partitions // warps
    shared = round_up(shared_bytes + device.shared_reserved_bytes, device.shared_unit_bytes)
    by_shared = device.shared_per_sm_bytes // shared  # <- wrong-formula, wrong-result, wrong-bounds-check, compile-error, unsupported
    return min(device.blocks_per_sm, device.warps_per_sm // warps, by_registers, by_shared)
