"""What an exercise asks beyond a right result: cost and tools."""
