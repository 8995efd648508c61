#!/usr/bin/env python3
"""Checks that the tests of division notice wrong rules: removes one condition after the other from copies of the
sources in icd/core/division, builds division_tests with each copy, and runs it. Every copy has to be found wrong.

Use: tests/division/mutations.py [--build FOLDER] [--test PROGRAM] [--seeds N] [NAME…]

NAME chooses mutations; without any, all run. Prints a line for each, and exits with status 1 if one is not noticed."""
import argparse
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = pathlib.Path('icd/core/division')

# Name, file, text, and what takes its place.
MUTATIONS = [
    ('parts-may-interfere', 'divide.cpp',
     'if (!written.intersects(shifted(other.reads[j], launch_.buffers[j].begin))) continue;', 'continue;'),
    ('only-writes-may-not-meet', 'divide.cpp',
     'if (!written.intersects(shifted(other.reads[j], launch_.buffers[j].begin))) continue;',
     'if (!written.intersects(shifted(other.writes[j], launch_.buffers[j].begin))) continue;'),
    ('may-writes-are-not-read', 'divide.cpp', 'part.reads[i].add(bytes);',
     'if (!access.writes) part.reads[i].add(bytes);'),
    ('aliases-count-as-several', 'divide.cpp',
     'if (launch_.buffers[i].object != launch_.buffers[j].object) continue;', 'if (i != j) continue;'),
    ('sub-buffers-begin-at-0', 'divide.cpp', 'result.add(range.begin + by, range.end + by);',
     'result.add(range.begin, range.end);'),
    ('whole-dimensions-are-divided', 'divide.cpp',
     'if (members > 1 && (footprint.whole_dimensions >> dimension & 1U) != 0) {', 'if (false) {'),
    ('group-ids-with-an-offset', 'divide.cpp',
     'if ((footprint.group_id_dimensions >> d & 1U) != 0 && launch.space.offset[d] != 0)', 'if (false)'),
    ('merged-buffers-are-accessed-otherwise', 'divide.cpp', 'if (!is_change(access)) return {};',
     'if (!is_change(access)) continue;'),
    ('several-kinds-of-changes-have-the-same-bytes', 'divide.cpp',
     'if (all.empty() || all.intersects(before)) return {};', 'if (all.empty()) return {};'),
    ('all-kinds-of-changes-are-merged', 'divide.cpp',
     'each.first.change == access.change && each.first.width == access.size',
     'each.first.width == access.size'),
    ('changes-of-all-widths-are-merged', 'divide.cpp',
     'each.first.change == access.change && each.first.width == access.size',
     'each.first.change == access.change'),
    ('merged-buffers-have-aliases', 'divide.cpp', 'buffer.image || has_alias(buffer) ||', 'buffer.image ||'),
    ('sub-buffers-are-no-aliases', 'divide.cpp', 'other.begin < buffer.begin + buffer.size',
     'other.begin == buffer.begin'),
    ('first-change-is-not-merged', 'divide.cpp', 'bytes.ranges().front().begin / change.width * change.width',
     '(bytes.ranges().front().begin / change.width + 1) * change.width'),
    ('last-change-is-not-merged', 'divide.cpp',
     '(bytes.ranges().back().end + change.width - 1) / change.width * change.width',
     'bytes.ranges().back().end / change.width * change.width - change.width'),
    ('copies-are-not-in-place-of-buffers', 'divide.cpp',
     'division.parts[j].reads[i] = division.parts[j].writes[i] = {};', 'division.parts[j].writes[i] = {};'),
    ('sign-extension-is-ignored', 'evaluate.cpp', '''      case Op::SignExtend:
        return signed_number(number.a);''', '''      case Op::SignExtend:
        return this->number(number.a);'''),
    ('zero-extension-is-ignored', 'evaluate.cpp', '''      case Op::ZeroExtend:
        return unsigned_number(number.a);''', '''      case Op::ZeroExtend:
        return this->number(number.a);'''),
    ('overflow-is-ignored', 'sums.cpp',
     'if (divide(subtract(values.most, lowest), power(bits)) != window)', 'if (false)'),
    ('partial-groups-are-ignored', 'evaluate.cpp',
     'if (space_.global[number.a] % space_.local[number.a] == 0)', 'if (true)'),
    ('quotients-of-negative-numbers', 'sums.cpp', '''  if (values.least < 0 || by.least < 0) return any(bits);
  // Programs must not divide by 0.''', '''  // Programs must not divide by 0.'''),
    ('remainders-of-negative-numbers', 'sums.cpp', '''  if (values.least < 0 || by.least < 0) return any(bits);
  if (!b.is_constant() || by.least == 0)
    return''', '''  if (!b.is_constant() || by.least == 0)
    return'''),
    ('quotient-without-remainder', 'sums.cpp', 'result.quotient = plus(std::move(result.quotient), any(over));',
     ''),
    ('one-iteration-less', 'evaluate.cpp',
     'return loop.next ? std::max<Wide>(0, tests - 1) : tests;', 'return std::max<Wide>(0, tests - 1);'),
    ('variables-do-not-overflow', 'evaluate.cpp',
     'if (add(std::max(start.most, subtract(end, 1)), size) > limit) return unknown;', ''),
    ('bound-is-passed', 'evaluate.cpp',
     'if (grows ? start.most + first > bound.least : start.least + first < bound.most) return unknown;', ''),
    ('steps-of-any-size-reach-the-bound', 'evaluate.cpp', 'if (size != (grows ? 1 : -1)) return unknown;', ''),
    ('wrong-direction', 'evaluate.cpp',
     '} else if (comparison == Comparison::Equal || loop.bound_first == grows) {', '} else if (false) {'),
    ('less-is-less-or-equal-less-1', 'evaluate.cpp', '''      case Comparison::LessSigned:
        case Comparison::LessUnsigned:
          return at_least(difference, 1);''', '''      case Comparison::LessSigned:
        case Comparison::LessUnsigned:
          return at_least(difference, 2);'''),
    ('conditions-compare-unsigned', 'evaluate.cpp',
     'is_signed(comparison) || comparison == Comparison::Equal || comparison == Comparison::Different;',
     'comparison == Comparison::Equal || comparison == Comparison::Different;'),
    ('smaller-groups-are-whole', 'evaluate.cpp', 'return sums_.any({1, Wide{space_.local[number.a]}});',
     'return constant(space_.local[number.a]);'),
    ('either-is-the-first', 'evaluate.cpp',
     'return sums_.any({std::min(a.least, b.least), std::max(a.most, b.most)});', 'return sums_.any(a);'),
    ('size-is-ignored', 'evaluate.cpp', 'Wide covered = length;', 'Wide covered = 1;'),
    ('or-is-a-sum', 'sums.cpp', '''  if (have_no_common_bit(a, b)) return plus(a, b);
  const Interval one''', '''  return plus(a, b);
  const Interval one'''),
    ('exclusive-or-is-a-sum', 'sums.cpp', '''  if (have_no_common_bit(a, b)) return plus(a, b);
  // ~a''', '''  return plus(a, b);
  // ~a'''),
    ('touching-bits-are-apart', 'sums.cpp', 'interval(low).most < (all & -all)',
     'interval(low).most <= (all & -all)'),
    ('constants-have-no-bits', 'sums.cpp', 'Wide all = high.constant;', 'Wide all = 0;'),
    ('no-bits-are-filled', 'sums.cpp', 'while (all < number) all = 2 * all + 1;', 'all = number;'),
    ('shifts-by-any-number', 'evaluate.cpp', 'if (!by.is_constant() || by.constant >= number.bits)',
     'if (by.constant >= number.bits)'),
    ('least-is-the-first', 'sums.cpp', 'if (one.most <= other.least) return a;', 'if (true) return a;'),
    ('pixels-outside-are-not-at-the-edge', 'evaluate.cpp', 'if (values.least < 0 || values.most > last)',
     'if (false)'),
    ('coordinates-are-unsigned', 'evaluate.cpp', 'within(number(access.coordinates[d]), 32, true)',
     'within(number(access.coordinates[d]), 32, false)'),
    ('pixels-have-one-byte', 'evaluate.cpp', 'object.image->pixel_size, object.size, bytes',
     '1, object.size, bytes'),
    ('rows-have-no-distance', 'evaluate.cpp', 'plus(std::move(place), coordinate, image.pitch[d])',
     'plus(std::move(place), coordinate, image.pitch[0])'),
]


def compile_command(build, source):
    """The words with which the build compiles a source of the folder, without -c, -o and the sources."""
    commands = subprocess.run(['ninja', '-C', build, '-t', 'commands', 'clique_icd_objects'], check=True,
                              capture_output=True, text=True).stdout
    for line in commands.splitlines():
        words = shlex.split(line)
        if '-c' in words and 'clique_icd_objects.dir' in line:
            begin = next(i for i, word in enumerate(words) if word.endswith(('c++', 'g++', 'clang++')))
            kept = []
            skip = False
            for word in words[begin:]:
                if skip:
                    skip = False
                elif word in ('-c', '-o', '-MF', '-MT'):
                    skip = True
                elif word != '-MD':
                    kept.append(word)
            return kept
    raise SystemExit('the build folder does not compile ' + source)


def link_command(build, test):
    """The words with which the build links the test program, and the place of the program's name."""
    commands = subprocess.run(['ninja', '-C', build, '-t', 'commands', test], check=True,
                              capture_output=True, text=True).stdout
    line = [each for each in commands.splitlines() if f' -o tests/division/{test}' in each][-1]
    words = [word for word in shlex.split(line) if word not in (':', '&&')]
    return words, words.index(f'tests/division/{test}')


def run(mutation, build, test, seeds):
    """Whether the tests notice the mutation."""
    _, file, text, other = mutation
    with tempfile.TemporaryDirectory() as folder:
        source = (ROOT / FOLDER / file).read_text()
        if source.count(text) < 1:
            raise SystemExit(f'{FOLDER / file} no longer contains the text of {mutation[0]}: {text}')
        changed = pathlib.Path(folder) / file
        changed.write_text(source.replace(text, other))
        compiled = pathlib.Path(folder) / 'mutated.o'
        command = compile_command(build, file) + ['-Wno-error', '-w', '-c', str(changed), '-o', str(compiled)]
        subprocess.run(command, check=True, cwd=build)
        words, place = link_command(build, test)
        program = pathlib.Path(folder) / test
        words[place] = str(program)
        # The changed file comes first, so that the library's is not needed, and may stand twice.
        words[place + 1:place + 1] = [str(compiled), '-Wl,--allow-multiple-definition']
        subprocess.run(words, check=True, cwd=build)
        environment = dict(os.environ, CLIQUE_COMPILER=f'{build}/daemon/compiler/clique-compiler')
        result = subprocess.run([str(program), '--seeds', str(seeds)], capture_output=True, text=True,
                                env=environment, check=False)
        return result.returncode != 0 and 'WRONG' in result.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--build', default=str(ROOT / 'build/release'), help='build folder; build/release')
    parser.add_argument('--test', default='division_tests', choices=('division_tests', 'checked_tests'),
                        help='the program that has to notice; division_tests')
    parser.add_argument('--seeds', type=int, default=200, help='programs to try for each mutation; 200')
    parser.add_argument('names', nargs='*', metavar='NAME', help='mutations to try; all')
    arguments = parser.parse_args()
    missed = 0
    for mutation in MUTATIONS:
        if arguments.names and mutation[0] not in arguments.names:
            continue
        noticed = run(mutation, arguments.build, arguments.test, arguments.seeds)
        missed += 0 if noticed else 1
        print(f'{mutation[0]}: {"noticed" if noticed else "NOT NOTICED"}', flush=True)
    return 1 if missed else 0


if __name__ == '__main__':
    sys.exit(main())
