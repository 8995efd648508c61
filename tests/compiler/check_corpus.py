#!/usr/bin/env python3
"""Compiles a program for several architectures and checks the PTX with ptxas.

Lines of the form `// options: …` in the program each ask for one build with these build options. Without such a line,
and for SPIR-V, there is one build without options.
"""

import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile

# The architectures to compile for, each with those for which the driver may have to assemble the PTX.
ARCHITECTURES = {"sm_75": ["sm_75"], "sm_80": ["sm_80"], "sm_90": ["sm_90", "sm_100"]}
# The processor for which ptxas also optimises. That takes half of its time, and it checks the PTX before.
OPTIMISED = "sm_90"


def run(command):
    """Runs a command. Returns its messages if it fails, otherwise None."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return None if done.returncode == 0 else f"{shlex.join(command)}\n{done.stdout}"


def code_of(path):
    """A PTX file's text without the line that names the architecture."""
    with open(path, encoding="utf-8") as ptx:
        return re.sub(r"^\.target .*$", "", ptx.read(), flags=re.MULTILINE)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compiler", required=True, help="clique-compiler")
    parser.add_argument("--ptxas", default="", help="ptxas; empty: only compile")
    parser.add_argument("source", help="OpenCL C or SPIR-V")
    arguments = parser.parse_args()
    with open(arguments.source, encoding="utf-8", errors="replace") as source:
        builds = re.findall(r"^// options: (.*)$", source.read(), re.MULTILINE) or [""]
    failures = []
    assembled = set()
    with tempfile.TemporaryDirectory() as folder:
        ptx = os.path.join(folder, "program.ptx")
        for options in builds:
            for architecture, assembled_for in ARCHITECTURES.items():
                failure = run([arguments.compiler, "--arch", architecture, "-o", ptx, arguments.source, "--",
                               *shlex.split(options)])
                if failure:
                    failures.append(failure)
                    continue
                # Many programs are the same PTX for every architecture. What an older processor accepts, a newer one
                # accepts, too, so that such PTX is assembled for the oldest and the newest processor only.
                code = code_of(ptx)
                processors = assembled_for if code not in assembled else assembled_for[1:]
                assembled.add(code)
                for processor in processors if arguments.ptxas else []:
                    level = [] if processor == OPTIMISED else ["-O0"]
                    failure = run([arguments.ptxas, f"-arch={processor}", *level, "-o", "/dev/null", ptx])
                    if failure:
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
