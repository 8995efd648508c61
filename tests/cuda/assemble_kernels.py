#!/usr/bin/env python3
"""Assembles the kernels that the CUDA backend brings as PTX, because the driver of the other tests reads none.

Usage: assemble_kernels.py [PTXAS]. Exits with 77 if the CUDA toolkit's assembler is not installed.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

BACKEND = pathlib.Path(__file__).resolve().parents[2] / 'daemon/backend/cuda'
ARCHITECTURE = 'sm_80'


def kernels():
    """The PTX texts, by the file that has them."""
    for source in sorted(BACKEND.rglob('*.cpp')):
        for text in re.findall(r'R"\((\s*\.version.*?)\)"', source.read_text(encoding='utf-8'), re.DOTALL):
            yield source.relative_to(BACKEND), text


def main():
    if len(sys.argv) < 2 or not sys.argv[1]:
        print('ptxas is not installed')
        return 77
    found = wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for source, text in kernels():
            found += 1
            file = pathlib.Path(folder) / 'kernels.ptx'
            file.write_text(text, encoding='utf-8')
            ended = subprocess.run([sys.argv[1], '-arch', ARCHITECTURE, file, '-o', file.with_suffix('.cubin')],
                                   capture_output=True, text=True, check=False)
            if ended.returncode != 0:
                wrong += 1
                print(f'{source}:\n{ended.stdout}{ended.stderr}')
    print(f'{found} texts, {wrong} wrong')
    return 1 if wrong or not found else 0


if __name__ == '__main__':
    sys.exit(main())
