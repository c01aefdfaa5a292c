"""A text that is no Python is told why in plain words, at its line; what Python reads is read."""

from every_case import every_case

from course_lib.checking import examine_source

HEAD = "from numba import cuda\n\n\n"
KERNEL = """\
@cuda.jit
def mat_add(A, B, C):
    x, y = cuda.grid(2)
    if y < C.shape[0] and x < C.shape[1]:
        C[y, x] = A[y, x] + B[y, x]
"""
TEXT = HEAD + KERNEL
PROMPTS = "".join(f"{'>>>' if line[:1].strip() else '...'} {line}\n" for line in TEXT.split("\n"))
ODD = {
    "%%time": (f"%%time\n{TEXT}", 1, "a command of Jupyter"),
    "%matplotlib": (f"%matplotlib inline\n{TEXT}", 1, "a command of Jupyter"),
    "!pip": (f"!pip list\n{TEXT}", 1, "a command of the shell"),
    "a fence": (f"```python\n{TEXT}```\n", 1, "the text around a program"),
    "its end": (f"{TEXT}```\n", 9, "the text around a program"),
    "prompts": (PROMPTS, 1, "a console's prompt"),
    "In": (f"In [3]: {TEXT}", 1, "a notebook's label of a cell"),
    "Out": (f"{TEXT}Out[3]: <function>\n", 9, "a notebook's label of a cell"),
    "numbers": ("1 x = 3\n2 @cuda.jit\n", 1, "a number stands before the line"),
    "a hard space": (TEXT.replace("x] + B", "x]\u00a0+ B"), 8, "no-break space (U+00A0)"),
    "nothing seen": (TEXT.replace("x] + B", "x]\u200b + B"), 8, "zero width space (U+200B)"),
    "a minus": (TEXT.replace("x] + B", "x] − B"), 8, "− (U+2212) only looks like -"),
    "quotes": (f"{TEXT}x = “a”\n", 9, 'only looks like "'),
    "a wide comma": (TEXT.replace("B[y, x]", "B[y，x]"), 8, "only looks like ,"),
    "else if": (f"{TEXT}    else if x:\n        pass\n", 9, "`else if`"),
    "&&": (TEXT.replace(" and ", " && "), 7, "&& is C"),
    "++": (f"{TEXT}    x++\n", 9, "++ and -- are C"),
    "a type first": (f"{TEXT}    float t = 3\n", 9, "a type stands before the name"),
    "too far left": (TEXT.replace("    if y", "  if y"), 7, "matches none of the blocks"),
    "too far right": (TEXT.replace("    if y", "      if y"), 7, "is indented further"),
    "tabs": (TEXT.replace("        C[y", "\tC[y"), 8, "tabs and spaces are mixed"),
    "no body": (f"{HEAD}def mat_add(A, B, C):\n", 4, "a colon opens a block here"),
    "no colon": (TEXT.replace("B, C):", "B, C)"), 5, "a colon is missing"),
    "open": (TEXT.replace("grid(2)", "grid(2"), 6, "( is opened here but never closed"),
    "closed twice": (
        TEXT.replace("grid(2)", "grid(2))"),
        6,
        ") closes something that was never opened",
    ),
    "a text": (f"{TEXT}    s = 'abc\n", 9, "no quote closes it"),
    "a number": (f"{TEXT}    s = 012\n", 9, "a number begins with 0"),
    "=": (TEXT.replace("if y <", "if y = 3 and y <"), 7, "nothing can be stored here"),
    "?": (TEXT.replace("x < C", "x ? C"), 7, "it cannot be read from ? on"),
}


@every_case("name", ODD)
def test_why_it_cannot_be_read(name: str) -> None:
    text, line, said = ODD[name]
    [error] = examine_source("mat_add", text, debug=True).errors
    assert (error.code, error.line) == ("compile-error", line)
    assert said in error.message and "invalid" not in error.message


def test_what_python_reads_in_a_file_is_read() -> None:
    for text in (f"\ufeff{TEXT}", TEXT.replace("\n", "\r\n"), f"\n\n{TEXT}\n\t\n"):
        assert examine_source("mat_add", text, debug=True).passed


def test_a_long_text_without_a_loop_is_right_if_its_numbers_are() -> None:
    lines = "    t = x + y\n" * 2500
    long = KERNEL.replace("    if y", f"{lines}    if y")
    assert examine_source("mat_add", HEAD + long, debug=True).passed
