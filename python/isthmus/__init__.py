"""Isthmus: one MPI world of several clusters. This package is the command line."""

from isthmus import version

__version__ = version.VERSION
