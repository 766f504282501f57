"""The entry point of `python -m thresher` and of the command `thresher`."""

from thresher.cli import process


def main() -> None:
    """Run the command line."""
    process.begin()
    try:
        from thresher.cli.main import main as run  # a signal may come meanwhile

        run()
    finally:
        process.end()


if __name__ == "__main__":
    main()
