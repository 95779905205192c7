"""Programs that measure, where they run and what they say: for bench, tune and doctor."""
