"""These tests are about the environment with Colab's versions, and are collected only in it."""

import sys
from pathlib import Path

if Path(sys.prefix).name != ".venv-colab":
    collect_ignore_glob = ["test_*.py"]
