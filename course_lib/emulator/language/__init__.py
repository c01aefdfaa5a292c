"""The kernel language as text: syntax trees, what names stand for, types. Nothing is executed.

Owns: what a source text is read as, and which texts are refused.
May import: `budget`, `errors`.
Start with: `parse`, then `names` (what a name outside the kernel means) and `operators`.
"""
