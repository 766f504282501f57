"""How well Thresher sorts as it comes, beside its peers: every task, every contender, one table."""
