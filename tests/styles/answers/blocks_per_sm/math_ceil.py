import math


def blocks_per_sm(device, threads, registers, shared_bytes):
    if threads > 1024 or registers > 255 or shared_bytes > device.shared_per_block_bytes:
        return 0
    warps = math.ceil(threads / 32)
    per_warp = math.ceil(registers * 32 / 256) * 256
    if per_warp * math.ceil(warps / 4) * 4 > 65536:
        return 0
    limits = [math.floor(device.warps_per_sm / warps)]
    limits.append(math.floor(4 * math.floor(16384 / per_warp) / warps))
    block = shared_bytes + device.shared_reserved_bytes
    if block:
        unit = device.shared_unit_bytes
        limits.append(math.floor(device.shared_per_sm_bytes / (math.ceil(block / unit) * unit)))
    limits.append(device.blocks_per_sm)
    return min(limits)
