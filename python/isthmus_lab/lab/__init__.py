"""The lab: clusters and wide-area networks on one machine, made of network namespaces."""
