"""Running sums: the problem, its hypotheses, and the lines behind them.

May import: `families`, `launches`, `problems`, `slip`, `source`.
Start with: `problem`, `sums`, `strides`.
"""
