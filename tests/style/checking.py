"""The command line of checks of the whole tree."""

import argparse
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]


def run(description, check, selftest):
    """Runs check(root), or selftest(), and prints the errors that it returns. Returns the exit status."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--root', type=pathlib.Path, default=ROOT, metavar='DIR')
    parser.add_argument('--selftest', action='store_true')
    options = parser.parse_args()
    errors = selftest() if options.selftest else check(options.root.resolve())
    for error in errors:
        print(error)
    return bool(errors)
