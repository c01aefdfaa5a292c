"""Show a verdict, note what it means for the student's progress, and offer help.

Owns: how a report reads, beside the lines it is about, and what is noted of it.
May import: `curriculum`, `diagnosis`, `emulator`, `figures`, `own_ladder`, `student`, `tiles`,
`web`, `wording`.
Start with: `showing`, then `verdict` (everything that is shown of one check).
"""

from course_lib.verdicts.showing import show
from course_lib.verdicts.typed import OURS, failed_since

__all__ = ["OURS", "failed_since", "show"]
