#!/usr/bin/env python3
"""Checks the messages that users get from the library, from daemons that refuse their programs, from the logs of nodes,
and from the program clique.

1. docs/troubleshooting.md has what the library and the program clique say on standard error, why daemons refuse
   programs, and what they and their workers warn of. The first of a message's constant texts that has three words must
   be in the page, or the beginning of that text. Settings explain themselves: the page says how they look.
2. Messages about settings, and refusals, name a value, and say what to do. Those of clique say what to do, or end with
   a reason.

A message is what the sources pass to the functions below, or what functions that give reasons return.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / 'docs/troubleshooting.md'
# What the library says.
FOLDERS = ('icd/remote', 'icd/core', 'icd/trace')
SAYING = re.compile(r'\b(?:say|say_once|give_up|Unreachable|Cut|SettingError|runtime_error)\(')
# What is wrong with settings. The first argument of the last two is the place.
SETTINGS = ('icd/common',)
COMPLAINING = re.compile(r'(?<!void )\b(?:SettingError|fail|fail_at)\(')
PLACES = ('fail', 'fail_at')
# A function fail() that says itself what to do.
HELPFUL_FAIL = re.compile(r'\bvoid fail\([^{]*\{[^}]*; write ')
# Why a daemon refuses a program.
REFUSING = re.compile(r'\brefuse\(|\bfailure_ =\s*(?=")|'
                      r'(?:\breturn|\breason \+?=|\bfailure_ =|\bwhy =|[?:])\s+(?:reason\(\s*)?fmt::format\(')
# The functions whose results, or calls of refuse(), are reasons for programs.
REASONS = {
    'daemon/server/configuration/access.cpp': ('Access::decide',),
    'daemon/server/server.cpp': ('other_version', 'Server::greet', 'Server::decide', 'Server::drains',
                                 'Server::limit_of', 'Server::serve_waiting'),
    'daemon/server/server_loads.cpp': ('Server::wanted', 'Server::hindrance'),
    'daemon/server/server_operators.cpp': ('Server::operate', 'Server::look', 'Server::end_session',
                                           'Server::begin_drain'),
    'daemon/server/server_workers.cpp': ('Server::start_sets', 'Server::fail_start', 'Server::look_at'),
}
LITERALS = re.compile(r'(?:R"\((?:.*?)\)"\s*|"(?:[^"\\]|\\.)*"\s*)+', re.DOTALL)
LITERAL = re.compile(r'R"\((.*?)\)"|"((?:[^"\\]|\\.)*)"', re.DOTALL)
# What the daemon and its workers say, or end with when they start.
NODE = 'daemon'
TELLING = re.compile(r'\bConfigError\(|\bspdlog::(?:warn|error|critical)\(')
# What the program clique says, or ends with.
COMMAND = 'cli'
ENDING = re.compile(r'\b(?:Failed|runtime_error|system_error|fail)\(|\bfprintf\(\s*stderr,')
# Its functions, and a class, that add the reason themselves.
REASONED = ('fail', 'system_error')
# The file whose messages become findings of clique doctor, which adds what to do.
FINDINGS = 'doctor_probe.cpp'
# Whether the message ends with a reason, and what else than ADVICE tells its reader what to do.
REASON = re.compile(r': "\)?\s*\+[^"]*$|%s\\n"[^"]*$')
ADVICE_OF_CLIQUE = re.compile(r"\b(?:add|ask|change|compare|edit|name|pass|repeat|run|shorten|unset)\b|'clique \w+|"
                              r"CLIQUE_LOG|'clinfo -l'|says what to do")
# What is not constant in the formats of fprintf(), and what all of its messages have.
VARIABLE = re.compile(r'%l?[a-z]+|^clique: |\\n$')
# What tells the reader what to do, or what is allowed.
ADVICE = re.compile(r'\b(?:write|see|try|install|leave|raise|choose|start|check|set|ask|let|put|remove|wait|use)\b'
                    r'|known are|did you mean|has to change|admits (?:it|user \{\}) with|lists its')
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


def texts_of(expression):
    """The constant texts of an expression, with the parts of those in pieces joined."""
    return [''.join(raw or plain for raw, plain in LITERAL.findall(part)).replace('\\"', '"')
            for part in (match[0] for match in LITERALS.finditer(expression))]


def found_by(texts):
    """The first constant text by which a message can be found; empty if there is none."""
    pieces = [piece.strip(' .:;,()\'"') for text in texts for piece in re.split(r'\{[^}]*\}|; ', text)]
    return next((piece for piece in pieces if len(piece.split()) > 2), '')


def messages(source, pattern):
    """What each call has in its parentheses, which function is called, and the line."""
    for call in pattern.finditer(source):
        if call[0].endswith('('):
            expression = argument(source, call.end() - 1)
        else:
            expression = source[call.end():source.index(';\n', call.end())]
        yield expression, re.findall(r'\w+', call[0])[-1], source.count('\n', 0, call.start()) + 1


def body(source, function):
    """Where the definition of a function begins and ends; nothing if it is not there."""
    begin = re.search(r'^\S[^\n]*\b' + re.escape(function) + r'\(', source, re.MULTILINE)
    return (begin.start(), source.index('\n}\n', begin.start())) if begin else None


def names_value(expression, function):
    """Whether a message contains anything that is not constant, beside its place."""
    rest = LITERALS.sub(' ', expression)
    if function in PLACES:
        rest = rest.partition(',')[2]
    return bool(re.search(r'[a-z_]\w*', rest)) or bool(re.search(r'\bhas no\b', expression))


def main():
    page = ' '.join(PAGE.read_text(encoding='utf-8').replace('|', ' ').split())
    found = {'said': 0, 'about settings': 0, 'refusals': 0, 'of nodes': 0, 'of clique': 0}
    wrong = []

    def expect(condition, place, text, what):
        if not condition:
            wrong.append(f'{place}: {what}: "{text}"')

    def in_page(text, place):
        expect(text[:ENOUGH].strip() in page, place, text, f'{PAGE.relative_to(ROOT)} does not have')

    def helps(expression, function, texts, place):
        expect(names_value(expression, function), place, ''.join(texts), 'no value is named')
        expect(ADVICE.search(' '.join(texts)), place, ''.join(texts), 'it does not say what to do')

    for folder in FOLDERS + SETTINGS:
        settings = folder in SETTINGS
        for file in sorted((ROOT / folder).rglob('*.cpp')):
            source = file.read_text(encoding='utf-8')
            for expression, function, line in messages(source, COMPLAINING if settings else SAYING):
                if function in PLACES and HELPFUL_FAIL.search(source):
                    continue
                texts = texts_of(expression)
                place = f'{file.relative_to(ROOT)}:{line}'
                if not found_by(texts) and not (settings and ADVICE.search(' '.join(texts))):
                    continue
                found['about settings' if settings else 'said'] += 1
                if settings:
                    helps(expression, function, texts, place)
                else:
                    in_page(found_by(texts), place)
    for name, functions in REASONS.items():
        source = (ROOT / name).read_text(encoding='utf-8')
        for function in functions:
            where = body(source, function)
            if not where:
                wrong.append(f'{name}: there is no {function}, which this check looks at')
                continue
            part = source[where[0]:where[1] + 3]
            for expression, called, line in messages(part, REFUSING):
                texts = texts_of(expression)
                text = found_by(texts)
                if not text:
                    continue
                place = f'{name}:{source.count(chr(10), 0, where[0]) + line}'
                found['refusals'] += 1
                in_page(text, place)
                helps(expression, called, texts, place)
    for file in sorted((ROOT / NODE).rglob('*.cpp')):
        for expression, _, line in messages(file.read_text(encoding='utf-8'), TELLING):
            if text := found_by(texts_of(expression)):
                found['of nodes'] += 1
                in_page(text, f'{file.relative_to(ROOT)}:{line}')
    for file in sorted((ROOT / COMMAND).rglob('*.cpp')):
        for expression, function, line in messages(file.read_text(encoding='utf-8'), ENDING):
            texts = [VARIABLE.sub('{}', text) for text in texts_of(expression)]
            if text := found_by(texts):
                found['of clique'] += 1
                place = f'{file.relative_to(ROOT)}:{line}'
                in_page(text, place)
                advice = any(pattern.search(' '.join(texts)) for pattern in (ADVICE, ADVICE_OF_CLIQUE))
                reasoned = function in REASONED or file.name == FINDINGS or REASON.search(expression)
                expect(advice or reasoned, place, ''.join(texts),
                       'it neither says what to do nor ends with a reason')
    print('\n'.join(wrong + [', '.join(f'{count} {what}' for what, count in found.items()), f'{len(wrong)} wrong']))
    least = {'said': 40, 'about settings': 30, 'refusals': 15, 'of nodes': 20, 'of clique': 50}
    if any(found[what] < count for what, count in least.items()):
        print('too few messages were found in the sources: the check no longer works')
        return 1
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main())
