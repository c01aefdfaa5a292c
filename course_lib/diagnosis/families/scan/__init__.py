"""Running sums: their hypotheses, and the lines behind them.

May import: `families`, `launches`, `problems`, `slip`, `source`.
Start with: `sums`, `strides`.
"""
