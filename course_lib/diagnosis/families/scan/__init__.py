"""Running sums: the problem, its hypotheses, and the lines behind them."""
