"""From wrong numbers of attention and scans to their cause: what they equal, and at which line.

Owns: a folder for each of these families, with its hypotheses and the line finders behind them
(`..._lines`).
Shared: `hypotheses` (how they are tried), `common`, `access_lines` and `sum_lines`, and `locate`
(which finder knows which kind of place, also those that a task's wrong ideas name).
May import: `launches`, `problems`, `slip`, `source`.
Start with: `hypotheses`, `locate`.
"""
