"""`isthmus bench io`: compares files that several clusters share with messages and with the native
library."""
