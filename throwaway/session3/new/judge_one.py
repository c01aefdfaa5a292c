"""Judge one file of this folder: cd TREE && PYTHONPATH=$PWD:/work/fresh2/new python judge_one.py FILE"""
import sys
from pathlib import Path

from course_lib.checking import examine_source
from course_lib.curriculum import EXERCISES as GRADED, TASKS
from course_lib.exercise import Task
from exercises import EXERCISES, RIGHT

for each in EXERCISES.values():
    (TASKS if isinstance(each, Task) else GRADED)[each.id] = each


def judge(file, seed=0):
    first, marked, cell = Path(file).read_text().split("\n", 2)
    return examine_source(first.removeprefix("# exercise: ").strip(), cell, seed=seed, debug=True)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        report = judge(name)
        print(name, report.passed, [(f.code, f.severity, f.line) for f in report.findings])
