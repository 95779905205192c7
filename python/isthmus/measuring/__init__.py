"""Measuring programs, where they run and their output: for bench, tune and doctor."""
