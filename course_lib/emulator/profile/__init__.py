"""What a launch cost: counters in total and per line, the model of the caches, the table.

Owns: the counters' names and meaning, as Nsight Compute has them.
May import: `budget`, `errors`, `state`.
Start with: `profile`; `request_costs` says what one request costs.
"""
