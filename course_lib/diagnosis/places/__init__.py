"""From what is known to be wrong to its line: where a text does what an idea names.

Owns: the finders of each kind of place, in `locate` (loads, stores, sums) and `steps` (of an
algorithm: a product, a maximum, an exchange of threads).
May import: `launches`, `slip`, `source`.
Start with: `locate`, which knows the finder for each kind of place.
"""
