"""`isthmus bench app`: whole programs in the layouts of the papers."""
