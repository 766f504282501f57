"""`python -m thresher` and the command `thresher`: the command line, in a process of its own."""

from thresher.cli import process


def main() -> None:
    """Run the command line; whatever stops it, it ends with a sentence and a status."""
    process.begin()
    try:
        from thresher.cli.main import main as run  # which takes long enough to be stopped meanwhile

        run()
    finally:
        process.end()


if __name__ == "__main__":
    main()
