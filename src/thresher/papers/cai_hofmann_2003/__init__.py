"""L. Cai and T. Hofmann."""
