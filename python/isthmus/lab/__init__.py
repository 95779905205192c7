"""The lab: clusters and wide-area networks on one machine, out of network namespaces."""
