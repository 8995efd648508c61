#!/usr/bin/env python3
"""Checks the Markdown files: every path of the repository that they name exists, and every link to a heading finds it.

A name counts as a path if it is the target of a link, or a word in `code` (also in a code block) that begins with one
of the repository's folders, or with a folder beside the Markdown file. `*` and `{a,b}` are expanded; a part such as
`<name>` or `…` stands for any name.

  check_markdown.py [--root DIR]    checks all files; the exit status is 1 if there are errors
  check_markdown.py --selftest      checks that each kind of error is found
"""

import itertools
import pathlib
import re
import sys
import tempfile

import checking

FENCE = re.compile(r'^\s*(```|~~~)')
CODE = re.compile(r'(`+)(.+?)\1', re.DOTALL)
LINK = re.compile(r'\]\(([^()\s]+)\)|^\[[^\]]+\]:\s+(\S+)', re.MULTILINE)
HEADING = re.compile(r'^#{1,6}\s+(.*?)\s*#*$')
# What stands around a path in prose and in commands.
AROUND = '"\'()[],;:.'
PLACEHOLDER = re.compile(r'[<>…$]|\.\.\.')


def anchor(heading):
    """The name by which links find a heading, as GitHub makes it."""
    text = re.sub(r'\[([^\]]*)\]\([^)]*\)', r'\1', heading).replace('`', '')
    return re.sub(r'[^\w\- ]', '', text.lower()).replace(' ', '-')


def anchors(path):
    found, inside = set(), False
    for line in path.read_text(encoding='utf-8').splitlines():
        if FENCE.match(line):
            inside = not inside
        elif not inside and (match := HEADING.match(line)):
            name = anchor(match[1])
            found.add(next(name + end for end in itertools.chain([''], (f'-{i}' for i in itertools.count(1)))
                           if name + end not in found))
    return found


def expanded(name):
    """What `{a,b}` stands for."""
    match = re.search(r'\{([^{}]*)\}', name)
    if not match:
        return [name]
    return [one for choice in match[1].split(',')
            for one in expanded(name[:match.start()] + choice.strip() + name[match.end():])]


def exists(folder, name):
    parts = []
    for part in pathlib.PurePosixPath(name).parts:
        if PLACEHOLDER.search(part):
            break
        parts.append(part)
    pattern = '/'.join(parts)
    if not pattern:
        return True
    return any(folder.glob(pattern)) if '*' in pattern else (folder / pattern).exists()


def words(code):
    # The folders of `a/{b, c}` stay together.
    code = re.sub(r',\s+(?=[^{}]*\})', ',', code)
    return [word.strip(AROUND) for word in re.split(r'[\s=|]+', code)]


def blocks(text):
    """The lines of code blocks, and the paragraphs of the rest: each with its first line, and whether it is code."""
    paragraph, inside = [], False
    for number, line in enumerate(text.splitlines() + [''], 1):
        fence = FENCE.match(line)
        if inside and not fence:
            yield number, True, line
        elif not fence and line.strip():
            paragraph.append(line)
            continue
        if paragraph:
            yield number - len(paragraph), False, '\n'.join(paragraph)
            paragraph = []
        if fence:
            inside = not inside


def is_path(word, root, folder):
    first, slash, _ = word.partition('/')
    if not slash or not first or first.startswith('.') and first != '.ci' or first in checking.MADE or '://' in word:
        return False
    return (root / first).is_dir() or (folder / first).is_dir()


def check_link(target, path, root):
    if '://' in target or target.startswith('mailto:'):
        return None
    name, _, heading = target.partition('#')
    file = path if not name else (path.parent / name)
    if not file.exists():
        return f'the link {target} leads to no file'
    if root.resolve() not in [file.resolve(), *file.resolve().parents]:
        return f'the link {target} leads out of the repository'
    if heading and file.suffix == '.md' and heading not in anchors(file):
        return f'the link {target} leads to no heading of {file.name}'
    return None


def check_file(path, root):
    """The errors of a file, each with its line."""
    errors = []
    text = path.read_text(encoding='utf-8')

    def report(line, message):
        errors.append((line, f'{path.relative_to(root)}:{line}: {message}'))

    def check_code(line, code):
        for word in words(code):
            if not is_path(word, root, path.parent):
                continue
            for name in expanded(word):
                if not exists(root, name) and not exists(path.parent, name):
                    report(line, f'{name} does not exist')

    for number, is_code, block in blocks(text):
        if is_code:
            check_code(number, block)
            continue
        for match in CODE.finditer(block):
            check_code(number + block.count('\n', 0, match.start()), match[2])
        prose = CODE.sub(lambda match: '\n' * match[0].count('\n'), block)
        for match in LINK.finditer(prose):
            if error := check_link(match[1] or match[2], path, root):
                report(number + prose.count('\n', 0, match.start()), error)
    return [message for _, message in sorted(errors)]


def check(root):
    return [error for path in checking.files(root) if path.suffix == '.md'
            for error in check_file(path, root)]


def selftest():
    good = ('# A page\n\nSee `tools/run --all`, `tools/*.py`, `tools/{run,x.py}`, `tools/<name>.py`, `build/none`,\n'
            '`other/none`, [tools](tools), [the page](page.md#a-page), [above](#a-page), [web](https://a.b/c).\n\n'
            '```\ntools/run --json=tools/run\n```\n')
    bad = {'`tools/none`': 'tools/none does not exist', '`tools/{run,none}`': 'tools/none does not exist',
           '`tools/none*`': 'tools/none* does not exist', '`sh tools/run tools/none.`': 'tools/none does not exist',
           '```\ntools/none --all\n```': 'tools/none does not exist',
           '`tools/run\ntools/none`': 'tools/none does not exist',
           '`none/<name>` `tools/none/<name>`': 'tools/none/',
           '[page](none.md)': 'leads to no file', '[page](page.md#none)': 'leads to no heading',
           '[page]: none.md': 'leads to no file', '[page](../..)': 'leads out of the repository'}
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / 'tools').mkdir()
        (root / 'tools/run').touch()
        (root / 'tools/x.py').touch()
        page = root / 'page.md'
        page.write_text(good, encoding='utf-8')
        wrong = [f'found in a good page: {error}' for error in check(root)]
        for text, expected in bad.items():
            page.write_text(f'{good}\n{text}\n', encoding='utf-8')
            errors = check(root)
            if len(errors) != 1 or expected not in errors[0]:
                wrong.append(f'{text!r}: expected one error with {expected!r}, found {errors}')
    return wrong


if __name__ == '__main__':
    sys.exit(checking.run(__doc__, check, selftest))
