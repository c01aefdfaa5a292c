"""Where wrong numbers come from, found by experiment: which cells and lines each one depends on.

Owns: copies of one launch that differ in one number, and the facts that their results tell.
May import: `launcher`, `launches`, `places`, `repair`, `source`.
Start with: `copies`, `dependence`, `facts`, `suspects`.
"""
