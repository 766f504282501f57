"""The hot loops of `thresher.text`, each file with the stem of the module that calls it."""
