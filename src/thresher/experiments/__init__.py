"""What trains in order to measure: protocols, comparisons, curves of learning, streams."""
