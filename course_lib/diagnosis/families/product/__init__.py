"""C = A @ B: the problem, its hypotheses, and the lines behind them.

May import: `families`, `launches`, `problems`, `slip`, `source`.
Start with: `problem`, `formula`, `steps`.
"""
