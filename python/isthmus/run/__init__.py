"""The parts of a run: agents, their start, ranks' output, signals and ends."""
