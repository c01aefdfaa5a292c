def blocks_per_sm(device, threads, registers, shared_bytes):
    """Four limits, one expression."""
    w = -(-threads // 32)
    return (
        0
        if threads > 1024 or registers > 255
        else min(
            device.blocks_per_sm,
            device.threads_per_sm // 32 // w,
            4 * (16384 // (-(-registers // 8) * 256)) // w,
            device.shared_per_sm_bytes
            // max(
                device.shared_unit_bytes,
                -(-(shared_bytes + device.shared_reserved_bytes) // device.shared_unit_bytes)
                * device.shared_unit_bytes,
            ),
        )
    )
