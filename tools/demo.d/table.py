#!/usr/bin/env python3
"""Prints a table of what each device did: table.py PICTURE.json HASHCAT.log"""

import json
import pathlib
import sys


def picture_work(path):
    return json.loads(path.read_text(encoding='utf-8'))['work']


def hash_speeds(path):
    """Hashes per second of each device, from the last status that hashcat printed as JSON."""
    text = path.read_text(encoding='utf-8', errors='replace')
    start = text.rfind('{ "session"')
    if start < 0:
        return []
    status, _ = json.JSONDecoder().raw_decode(text[start:])
    return [device['speed'] for device in status['devices']]


def table(rows):
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for number, row in enumerate(rows):
        print('  ' + '  '.join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())
        if number == 0:
            print('  ' + '  '.join('-' * width for width in widths))


def main():
    work = picture_work(pathlib.Path(sys.argv[1]))
    speeds = hash_speeds(pathlib.Path(sys.argv[2]))
    rows = [('node', 'device', 'computed', 'time', 'throughput')]
    for index, one in enumerate(work):
        rows.append((one['node'], one['device'][:40], f"{one['bands']} of {one['of']} bands of the picture",
                     f"{one['seconds']:.2f} s", f"{one['pixels'] / one['seconds'] / 1e6:.1f} million pixels/s"))
        if index < len(speeds):
            rows.append(('', '', 'its share of the MD5 hashes', '', f'{speeds[index] / 1e6:.1f} million hashes/s'))
    table(rows)
    if len(speeds) != len(work):
        print(f'  hashcat used only {len(speeds)} of {len(work)} devices')


if __name__ == '__main__':
    main()
