"""What a launch holds at any moment: the lanes that are active, and all memory.

Owns: lanes and masks as arrays; global, shared and local memory with bounds and poison.
May import: nothing else of the emulator.
Start with: `lanes`, then `memory` and `indices`; `hopper` has mbarriers and the boxes of TMA.
"""
