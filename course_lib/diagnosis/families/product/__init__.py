"""C = A @ B: the problem, its hypotheses, and the lines behind them."""
