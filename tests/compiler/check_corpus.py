#!/usr/bin/env python3
"""Compiles a program for several architectures and checks the PTX with ptxas.

Lines of the form `// options: …` in the program each ask for one build with these build options. Without such a line,
and for SPIR-V, there is one build without options. A line of the form `// since: sm_XY`, or --since, names the oldest
architecture that has what the program needs.
"""

import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile

# The architectures to compile for, the oldest and the newest first, each with those for which the driver may have to
# assemble the PTX.
ARCHITECTURES = {"sm_75": ["sm_75"], "sm_90": ["sm_90", "sm_100"], "sm_80": ["sm_80"]}
# The processor for which ptxas also optimises, unless --quick is given. That takes half of its time, and it checks the
# PTX before.
OPTIMISED = "sm_90"


def run(command):
    """Runs a command. Returns its messages if it fails, otherwise None."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return None if done.returncode == 0 else f"{shlex.join(command)}\n{done.stdout}"


def code_of(path):
    """A PTX file's text without the line that names the architecture."""
    with open(path, encoding="utf-8") as ptx:
        return re.sub(r"^\.target .*$", "", ptx.read(), flags=re.MULTILINE)


def kernels_of(code):
    """The PTX of each kernel by name, and all other code, in which labels do not count functions."""
    kernels = {}
    rest = []
    for part in re.split(r"^(?=\.entry |\.func |\.visible |\.const |\.global |\t*// -- End function)", code,
                         flags=re.MULTILINE):
        part = re.sub(r"\$L__BB\d+_", "$L__BB_", part)
        if entry := re.match(r"(?:\.visible )?\.entry (\w+)", part):
            kernels[entry[1]] = part
        else:
            rest.append(part)
    return kernels, sorted(rest)


def without_equal_kernels(text, one, other):
    """The source without the kernels that two PTX texts of it have in common.

    None if there are none, or it cannot be told which: other code differs, or a kernel is not a line of its own.
    """
    kernels, rest = kernels_of(one)
    others, other_rest = kernels_of(other)
    if rest != other_rest or kernels.keys() != others.keys():
        return None
    equal = {name for name, code in kernels.items() if code == others[name]}
    lines = text.splitlines(keepends=True)
    named = [line.count("__kernel ") == 1 and re.match(r"__kernel void (\w+)\(.*\}$", line) for line in lines]
    if not equal or not equal <= {match[1] for match in named if match}:
        return None
    return "".join(line for line, match in zip(lines, named) if not match or match[1] not in equal)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compiler", required=True, help="clique-compiler")
    parser.add_argument("--ptxas", default="", help="ptxas; empty: only compile")
    parser.add_argument("--quick", action="store_true",
                        help="for large programs: ptxas does not optimise, and assembles PTX that several processors "
                             "run for the newest of them only")
    parser.add_argument("--since", default="", help="the oldest architecture that has what the program needs")
    parser.add_argument("source", help="OpenCL C or SPIR-V")
    arguments = parser.parse_args()
    with open(arguments.source, encoding="utf-8", errors="replace") as source:
        text = source.read()
    builds = re.findall(r"^// options: (.*)$", text, re.MULTILINE) or [""]
    since = re.search(r"^// since: (sm_\d\d)$", text, re.MULTILINE)
    oldest = since[1] if since else arguments.since
    architectures = {name: processors for name, processors in ARCHITECTURES.items() if name >= oldest}
    failures = []

    def assemble(ptx, processor):
        optimise = processor == OPTIMISED and not arguments.quick
        return run([arguments.ptxas, f"-arch={processor}", *([] if optimise else ["-O0"]), "-o", "/dev/null", ptx])

    with tempfile.TemporaryDirectory() as folder:
        ptx = os.path.join(folder, "program.ptx")
        for options in builds:
            assembled = []
            source = arguments.source
            for number, (architecture, processors) in enumerate(architectures.items()):
                # Code that is the same for the oldest and the newest architecture is the same for those between.
                if number == 2 and len(assembled) == 1:
                    continue
                if number == 2 and len(assembled) == 2 and (rest := without_equal_kernels(text, *assembled)):
                    source = os.path.join(folder, "rest.cl")
                    with open(source, "w", encoding="utf-8") as file:
                        file.write(rest)
                failure = run([arguments.compiler, "--arch", architecture, "-o", ptx, source, "--",
                               *shlex.split(options)])
                if failure:
                    failures.append(failure)
                    continue
                # Many programs are the same PTX for every architecture. What an older processor accepts, a newer one
                # accepts, too, so that such PTX is assembled for the oldest and the newest processor only.
                code = code_of(ptx)
                if code in assembled:
                    processors = processors[1:]
                else:
                    assembled.append(code)
                    if arguments.quick:
                        processors = processors[-1:]
                for processor in processors if arguments.ptxas else []:
                    if failure := assemble(ptx, processor):
                        failures.append(f"{architecture} {options}\n{failure}")
        # Code that was not optimised for lack of time must be correct, too.
        failure = run([arguments.compiler, "--optimisation-time", "0", "-o", ptx, arguments.source, "--",
                       *shlex.split(builds[0])])
        if not failure and arguments.ptxas:
            failure = run([arguments.ptxas, f"-arch={OPTIMISED}", "-O0", "-o", "/dev/null", ptx])
        if failure:
            failures.append(failure)
    print("\n".join(failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
