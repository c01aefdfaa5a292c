"""Numbers in an answer that stand for a size, or up to which alone it is right.

May import: `launches`, `source`.
Start with: `limits`.
"""
