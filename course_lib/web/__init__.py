"""What every HTML output of the course shares: colours, escaping, and the way it starts.

Owns: what the pages of verdicts, questions, grading and figures share.
May import: nothing of the course.
Start with: `page`.
"""

from course_lib.web.page import escape, fragment, json_for_html, read_beside, running, still

__all__ = ["escape", "fragment", "json_for_html", "read_beside", "running", "still"]
