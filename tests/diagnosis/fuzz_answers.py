"""The target of coverage-guided fuzzing: `python fuzz_answers.py CORPUS [libFuzzer's options]`.

Not a test by itself; test_fuzz_examination.py starts it where atheris is installed.
"""

import sys

import atheris

with atheris.instrument_imports(include=["course_lib.emulator", "course_lib.diagnosis"]):
    from course_lib.checking import examine_source

EXERCISES = ("mat_add", "matmul_naive", "block_scan", "blocks_per_sm", "pick_a_tile")


def check_bytes(data: bytes) -> None:
    """Judge the bytes as an answer; its first byte chooses the exercise."""
    exercise = EXERCISES[data[0] % len(EXERCISES)] if data else EXERCISES[0]
    report = examine_source(exercise, data[1:].decode("utf-8", "replace"), debug=True)
    assert report.findings or report.passed


def main() -> None:
    atheris.Setup(sys.argv, check_bytes)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
