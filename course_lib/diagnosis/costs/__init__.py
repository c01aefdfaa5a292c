"""What an exercise asks for beside a right result: cost and tools, read off the counters.

May import: `launcher`, `launches`, `source`.
Start with: `requirements`, `measured`.
"""
