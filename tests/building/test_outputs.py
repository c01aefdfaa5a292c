"""What may not stand in a stored output, and what may."""

from every_case import every_case

from course_lib.building.notebook import code, new
from course_lib.building.outputs import blemishes


def stream(text: str, name: str = "stdout") -> dict:
    return {"output_type": "stream", "name": name, "text": [text]}


def picture(alt: str) -> dict:
    data = {"image/png": "iVBOR", "text/plain": "<Figure size 640x480 with 1 Axes>"}
    return {"output_type": "display_data", "data": data, "metadata": {"image/png": {"alt": alt}}}


def complaints(output: dict, *names: str) -> list[str]:
    cell = code("1", *names, id="here") | {"outputs": [output], "execution_count": 1}
    return list(blemishes(new([cell])))


@every_case(
    ("output", "why"),
    [
        (stream("<Kernel at 0x7f3a12bc40>"), "address in memory"),
        (stream("see /tmp/ipykernel_123/4.py"), "path of this machine"),
        (stream("C:\\Users\\me"), "path of this machine"),
        (stream("median 1.25 ms"), "a time"),
        (stream("took 3 s."), "a time"),
        (stream("12,000 µs"), "a time"),
        (stream("Warning: old", "stderr"), "stderr"),
        ({"output_type": "error", "ename": "ValueError", "evalue": ""}, "exception is stored"),
        (picture(""), "without alt text"),
        (picture("a plot"), "without alt text"),
    ],
)
def test_what_may_not_be_stored(output, why):
    (complaint,) = complaints(output)
    assert complaint.startswith("cell here: ") and why in complaint
