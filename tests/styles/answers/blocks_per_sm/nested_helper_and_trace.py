def blocks_per_sm(device, threads, registers, shared_bytes):
    """Says what it does while it works."""

    def rounded(number, unit=1):
        rest = number % unit
        return number if rest == 0 else number + unit - rest

    if not (1 <= threads <= device.threads_per_block) or registers > device.registers_per_thread:
        return 0
    warps = rounded(threads, unit=device.warp_size) // device.warp_size
    register_file, unit = device.registers_per_sm, device.register_unit
    quarter = register_file // device.partitions
    fits = device.partitions * (quarter // rounded(registers * device.warp_size, unit))
    shared = rounded(shared_bytes + device.shared_reserved_bytes, device.shared_unit_bytes)
    limits = (
        device.warps_per_sm // warps,
        fits // warps,
        device.shared_per_sm_bytes // shared if shared else float("inf"),
        device.blocks_per_sm,
    )
    print(f"{device.name}: {limits[0]} {limits[1]} {limits[3]}, {warps / device.warps_per_sm:.1%}")
    assert all(limit >= 0 for limit in limits)
    return sorted(limits)[0]
