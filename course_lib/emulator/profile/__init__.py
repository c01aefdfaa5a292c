"""What a launch cost: the counters in total and per line, a model of the caches, the table.

Owns: the names and meaning of the counters, which are those of Nsight Compute.
May import: `budget`, `errors`.
Start with: `counters` (each counter and its meaning), then `profile`; `request_costs` computes the
cost of one request.
"""
