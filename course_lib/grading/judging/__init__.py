"""From answers to judgements: batch notebooks, run in child processes.

Owns: batch notebooks, the pool that runs them, and what happens when a kernel or a worker dies.
May import: `records`, `transfer`, `version`.
Start with: `worker`; `batches` is where a text meets the judge.
"""
