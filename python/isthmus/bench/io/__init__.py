"""`isthmus bench io`: files that several clusters share, beside messages and the native library."""
