"""Experiments that train and measure: cross-validation, comparison, curves and streams."""
