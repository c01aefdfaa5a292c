"""What an answer is tried on: shapes, inputs, what should come out, and how it is launched.

Start with: `problem` (what a family asks for, and its launches), `inputs`.
"""
