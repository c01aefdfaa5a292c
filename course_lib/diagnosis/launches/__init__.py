"""What one launch did: what came out, what it wrote where, and when its tiles travelled.

May import: nothing of diagnosis.
Start with: `outcome` (right or wrong, element by element), `trail` (who wrote what).
"""
