from course_lib.devices import occupancy


def blocks_per_sm(device, threads, registers, shared_bytes):
    """How many blocks fit."""
    found = occupancy(device.name, threads, registers, shared_bytes)  # <- not-allowed
    return found.blocks
