def blocks_per_sm(device, threads, registers, shared_bytes):  # <- missing-answer
    """How many blocks of this launch one SM of the device holds; 0 if it cannot launch."""
    # your code here
