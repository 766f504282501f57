"""Thresher beside its peers: the same jobs, one process each, all in one run."""
