#!/usr/bin/env python3
"""Checks that docs/troubleshooting.md has what the library says on standard error.

A message is what the sources of the library pass to the functions below. The first of its constant texts that has three
words must be in the page, or the beginning of that text. Settings explain themselves: the page says how they look.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / 'docs/troubleshooting.md'
FOLDERS = ('icd/remote', 'icd/core', 'icd/trace')
SAYING = re.compile(r'\b(?:say|say_once|give_up|Unreachable|Cut|SettingError|runtime_error)\(')
LITERALS = re.compile(r'(?:"(?:[^"\\]|\\.)*"\s*)+')
LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')
# Enough to find a message by.
ENOUGH = 24


def argument(source, begin):
    """The text from an opening parenthesis to the closing one."""
    depth = 0
    for match in re.compile(r'"(?:[^"\\]|\\.)*"|[()]').finditer(source, begin):
        depth += {'(': 1, ')': -1}.get(match[0], 0)
        if depth == 0:
            return source[begin:match.end()]
    return ''


def messages(source):
    """The first constant text of each message by which it can be found, and its line."""
    for call in SAYING.finditer(source):
        texts = [''.join(LITERAL.findall(part)) for part in LITERALS.findall(argument(source, call.end() - 1))]
        texts = [text.strip(' .:;,()\'"').replace('\\"', '"') for text in texts]
        found = [text for text in texts if len(text.split()) > 2]
        if found:
            yield found[0], source.count('\n', 0, call.start()) + 1


def main():
    page = ' '.join(PAGE.read_text(encoding='utf-8').replace('|', ' ').split())
    found = missing = 0
    for folder in FOLDERS:
        for file in sorted((ROOT / folder).rglob('*.cpp')):
            for text, line in messages(file.read_text(encoding='utf-8')):
                found += 1
                if text[:ENOUGH].strip() not in page:
                    print(f'{file.relative_to(ROOT)}:{line}: {PAGE.relative_to(ROOT)} does not have "{text}"')
                    missing += 1
    if found < 40:
        print(f'only {found} messages were found in the sources: the check no longer works')
        return 1
    print(f'{found} messages, {missing} of them missing')
    return 1 if missing else 0


if __name__ == '__main__':
    sys.exit(main())
