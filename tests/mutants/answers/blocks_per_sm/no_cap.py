# EXERCISE blocks_per_sm
def ceil_to(value, step):
    rest = value % step
    if rest == 0:
        return value
    return value + step - rest


def blocks_per_sm(device, threads, registers, shared_bytes):
    if threads > device.threads_per_block:
        return 0
    if registers > device.registers_per_thread:
        return 0
    if shared_bytes > device.shared_per_block_bytes:
        return 0
    warps = ceil_to(threads, device.warp_size) // device.warp_size
    per_warp = ceil_to(registers * device.warp_size, device.register_unit)
    if ceil_to(warps, device.partitions) * per_warp > device.registers_per_sm:
        return 0
    answer = 1000  # <- wrong-formula, hardcoded-answer
    answer = min(answer, device.warps_per_sm // warps)
    file_size = device.registers_per_sm // device.partitions
    warps_held = file_size // per_warp * device.partitions
    answer = min(answer, warps_held // warps)
    taken = ceil_to(shared_bytes + device.shared_reserved_bytes, device.shared_unit_bytes)
    if taken > 0:
        answer = min(answer, device.shared_per_sm_bytes // taken)
    return answer  # <- wrong-formula
