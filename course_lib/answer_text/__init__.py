"""The text of an answer: the code that a task puts around it, and why some cannot be judged.

Owns: the caller that launches a device function, the refusals of unknown forms.
May import: `curriculum`, `emulator`, `registry`, `wording`.
Start with: `context`, `refusals`.
"""
