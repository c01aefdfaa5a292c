"""Put 7 into one place of an array: the first line of the first kernel."""

from course_lib.registry.exercise import Task

TASK = Task(
    id="put_seven",
    title="Put 7 into one place",
    lesson="00",
    parameters=("out",),
    output="out",
    grid=(1,),
    block=(1,),
    shapes=("4",),
    reference=lambda: [0, 0, 7, 0],
    formula="out[2] = 7",
    hints=("You write to an array element just as in Python.", "The first element has index 0."),
    given='''\
@cuda.jit
def put_seven(out):
    """out[2] = 7. All other elements stay as they are."""
    ...
''',
    answer='''\
@cuda.jit
def put_seven(out):
    """out[2] = 7. All other elements stay as they are."""
    out[2] = 7
''',
    meaning="One thread wrote one number. A GPU keeps tens of thousands of threads going at once, "
    "so let us start more of them.",
)
