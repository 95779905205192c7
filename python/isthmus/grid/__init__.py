"""The grid file: its keys, its checks, and what follows from it about hosts and links."""
