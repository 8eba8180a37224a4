"""`python -m smemlint`."""

from smemlint.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
