"""From answers to judgements: batches in child processes, and a journal of what is known.

Owns: batch notebooks, the pool that runs them, and what happens when a kernel or a worker dies.
May import: `errors`, `graded`, `records`, `sealed`, `version`.
Start with: `worker`; `batches` is where a text meets the judge.
"""
