#!/usr/bin/env python3
"""Checks that no line of a text file is longer than 120 columns.

The files are those that git tracks or does not ignore; without git, all but those in folders that are made. The lines
of data may have any length, because nobody reads them one by one: binary files, and files with a suffix of SKIPPED,
which are recorded results, drawings, pictures, tables, and SPIR-V.

  check_lines.py [--root DIR]    checks all files; the exit status is 1 if there are errors
  check_lines.py --selftest      checks that long lines are found
"""

import pathlib
import sys
import tempfile

import checking

LONGEST = 120
SKIPPED = ('.json', '.svg', '.png', '.tsv', '.spvasm')


def check_file(path, root):
    """The errors of a file."""
    content = path.read_bytes()
    try:
        text = content.decode('utf-8')
    except UnicodeDecodeError:
        return []
    if '\0' in text:
        return []
    return [f'{path.relative_to(root)}:{number}: {len(line)} columns; at most {LONGEST}'
            for number, line in enumerate(text.split('\n'), 1) if len(line) > LONGEST]


def check(root):
    return [error for path in checking.files(root) if path.suffix not in SKIPPED
            for error in check_file(path, root)]


def selftest():
    long = 121 * 'é'
    good = {'page.md': 120 * 'é' + '\n', 'table.tsv': long, 'binary': '\0' + long, 'build/made.txt': long}
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in good.items():
            (root / name).parent.mkdir(exist_ok=True)
            (root / name).write_text(text, encoding='utf-8')
        (root / 'latin').write_text(long, encoding='latin-1')
        wrong = [f'found in good files: {error}' for error in check(root)]
        for name in ('page.md', 'tool'):
            (root / name).write_text(f'short\n{long}\n', encoding='utf-8')
        errors = check(root)
        if errors != [f'{name}:2: 121 columns; at most 120' for name in ('page.md', 'tool')]:
            wrong.append(f'expected an error in page.md and one in tool, found {errors}')
    return wrong


if __name__ == '__main__':
    sys.exit(checking.run(__doc__, check, selftest))
