"""What an exercise asks for beside a right result: cost and tools, read off the counters.

Start with: `requirements` (all of them), `measured` (what they look at).
"""
