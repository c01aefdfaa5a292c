"""From what is known to be wrong to its line: where a text does what an idea names.

Owns: the finders of each kind of place, in `access` (loads and stores), `sums` and `steps` (of an
algorithm: a product, a maximum, an exchange of threads).
May import: `launches`, `slip`, `source`.
Start with: `locate`, which knows what finder has which kind of place.
"""
