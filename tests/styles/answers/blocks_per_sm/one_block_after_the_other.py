def up(number, unit):
    while number % unit != 0:
        number += 1
    return number


def blocks_per_sm(device, threads, registers, shared_bytes):
    """Put blocks onto the SM until the next one does not fit."""
    if threads > device.threads_per_block or registers > device.registers_per_thread:
        return 0
    warps = up(threads, device.warp_size) // device.warp_size
    room = device.partitions * (
        device.registers_per_sm // device.partitions // up(registers * 32, device.register_unit)
    )
    shared = up(shared_bytes + device.shared_reserved_bytes, device.shared_unit_bytes)
    blocks = 0
    while True:
        more = blocks + 1
        if more > device.blocks_per_sm or more * warps > device.warps_per_sm:
            break
        if more * warps > room or more * shared > device.shared_per_sm_bytes:
            break
        blocks = more
    return blocks
