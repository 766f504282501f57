"""The hot loops: arrays in, scalars out. Each file has the stem of the module that calls it."""
