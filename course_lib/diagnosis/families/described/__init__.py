"""Problems that an entry describes by itself, tasks among them: wrong numbers and their causes.

May import: `families`, `launches`, `problems`, `slip`, `source`.
Start with: `problem`, `slips`, `tasks`.
"""
