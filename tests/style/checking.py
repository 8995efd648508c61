"""The command line of checks of the whole tree."""

import argparse
import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Folders that are made, not kept.
MADE = {'.cache', '.carry', '.git', '__pycache__', 'build'}


def kept(root):
    """All files but those in folders that are made, in which tests create and remove some meanwhile."""
    for folder, folders, names in os.walk(root):
        folders[:] = set(folders) - MADE
        yield from (pathlib.Path(folder, name) for name in names)


def files(root):
    """The files that git tracks or does not ignore, in order; without git, all but those in folders that are made."""
    try:
        listed = subprocess.run(['git', '-C', root, 'ls-files', '-zco', '--exclude-standard'],
                                capture_output=True, text=True, check=True).stdout.split('\0')
        found = [root / name for name in sorted(set(listed))]
    except (OSError, subprocess.CalledProcessError):
        found = sorted(kept(root))
    # A file that was removed is listed until that is committed.
    return [path for path in found if path.is_file()]


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
