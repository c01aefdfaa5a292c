"""What to look at in a line to which wrong numbers lead."""

from course_lib.wording.tables import Wording

TEST = Wording("", "", "For which threads should this test be true?")
ITERATIONS = Wording(
    "wrong-loop-bound", "", "How many iterations does this loop make here, and how many should it?"
)
