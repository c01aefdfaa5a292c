"""Starts pytest for a batch, without what it would load in vain.

As a plugin (`-p course_lib.grading.judging.nbval_run`) it does the same for any run of nbval.
"""

import sys

# The notebooks' schema could be checked for web addresses with this; to load it takes three
# seconds, longer than judging many answers. None makes an import fail, and then it is left out.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]


def main() -> int:
    """Run pytest with the arguments of this process."""
    import pytest

    return pytest.main(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
