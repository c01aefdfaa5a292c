"""Hold what every HTML output of the course shares: its colours, its escaping, its way to start."""

from course_lib.web.page import escape, fragment, json_for_html, read_beside, still

__all__ = ["escape", "fragment", "json_for_html", "read_beside", "still"]
