"""The commands of the front door, one module each; cli.py picks one.

Owns: what `python3 course.py COMMAND` does, once the environment stands.
May import: `bench`, `board`, `book`, `building`, `curriculum`, `devices`, `figures`, `grading`,
`host`, `kernels`, `machine_code`, `measurements`, `student`, `wording`.
Start with: the module named as the command; `places` says where things lie.
"""
