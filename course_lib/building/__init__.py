"""The parts of the maintainers' build: one module for each thing that `build` keeps in order."""
