"""What an answer is tried on: shapes, inputs, what should come out, and how it is launched.

May import: `launches`, `source`.
Start with: `problem`, `inputs`.
"""
