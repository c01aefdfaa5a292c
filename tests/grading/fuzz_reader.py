"""The target of coverage-guided fuzzing: `python fuzz_reader.py CORPUS [libFuzzer's options]`.

Not a test by itself; test_reader_fuzz.py starts it where atheris is installed.
"""

import sys

import atheris

with atheris.instrument_imports(include=["course_lib.grading", "json"]):
    from test_reader_fuzz import check_bytes


def main() -> None:
    atheris.Setup(sys.argv, check_bytes)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
