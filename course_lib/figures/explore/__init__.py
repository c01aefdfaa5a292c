"""Hold figures to play with: bytes, banks, sectors, rooflines, occupancy, thread tiles."""
