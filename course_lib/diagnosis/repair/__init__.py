"""The smallest change with which an answer is right, found by trying hundreds at once.

Owns: what a change is (`edit`), what it is made of (`ingredients`), the changes that are tried
(`all_edits`: of `expressions`, `statements`, several places at once; of tiles alone `of_tiles`),
how they are tried at once (`schemata`), which one helps (`search`), and what is said of it
(`causes`, `words`).
May import: `costs`, `launcher`, `launches`, `source`.
Start with: `all_edits`, `schemata`, `search`.
"""
