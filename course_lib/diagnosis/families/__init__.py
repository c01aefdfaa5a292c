"""From wrong numbers to their cause: what they equal instead, and which line that is.

Owns: a file or a folder for each family of problems, with its inputs and right answer (`problem`),
its hypotheses, and the line finders behind them (`..._lines`). `table` names the families.
Shared: `hypotheses` (how they are tried), `index_search`, `common`, `mapping` (which block wrote
where), `access_lines` and `sum_lines`, and `locate` (which finder knows which kind of place).
A new hypothesis goes to its family, with a place that `locate` knows.
May import: `launches`, `problems`, `slip`, `source`.
Start with: `hypotheses`, `table`, `locate`.
"""
