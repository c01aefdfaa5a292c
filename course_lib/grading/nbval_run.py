"""Starts pytest for a batch, without what it would load in vain."""

from __future__ import annotations

import sys


def main() -> int:
    """Run pytest with the arguments of this process."""
    # The notebooks' schema could be checked for web addresses with this; loading it takes longer
    # than judging several answers. None makes an import fail, and then it is left out.
    sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
    import pytest

    return pytest.main(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
