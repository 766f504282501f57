"""`python -m thresher` and the command `thresher`: the command line, in a process of its own."""

from thresher import _process


def main() -> None:
    """Run the command line; whatever stops it, it ends with a sentence and a status."""
    _process.begin()
    try:
        from thresher.cli import main as run  # which takes long enough to be stopped meanwhile

        run()
    finally:
        _process.end()


if __name__ == "__main__":
    main()
