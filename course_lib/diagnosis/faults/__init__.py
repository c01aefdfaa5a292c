"""From a fault that the emulator saw, such as a race or a read outside, to its cause."""
