#!/usr/bin/env python3
"""Writes kernels that call every built-in function of OpenCL C, in every overload that opencl-c.h declares.

usage: builtin_calls.py HEADER FOLDER

HEADER is Clang's opencl-c.h. The files in FOLDER contain one kernel for each function: those of OpenCL C 3.0, and those
that only OpenCL C 1.2 has.
"""

import pathlib
import re
import sys

# The macros on which the declarations in opencl-c.h depend.
MACROS = """
cl_khr_fp16 cl_khr_fp64 cl_khr_3d_image_writes cl_khr_depth_images cl_khr_byte_addressable_store
cl_khr_global_int32_base_atomics cl_khr_global_int32_extended_atomics cl_khr_local_int32_base_atomics
cl_khr_local_int32_extended_atomics cl_khr_int64_base_atomics cl_khr_int64_extended_atomics cl_khr_extended_bit_ops
cl_khr_integer_dot_product __opencl_c_images
""".split()
# The overloads for named address spaces only exist without generic pointers.
MACROS_OF_1_2 = ["__opencl_c_named_address_space_builtins"]
MACROS_OF_3_0 = """
cl_khr_subgroups cl_khr_subgroup_extended_types cl_khr_subgroup_non_uniform_vote cl_khr_subgroup_ballot
cl_khr_subgroup_non_uniform_arithmetic cl_khr_subgroup_shuffle cl_khr_subgroup_shuffle_relative
cl_khr_subgroup_clustered_reduce cl_khr_subgroup_rotate __opencl_subgroup_builtins cl_ext_float_atomics
__opencl_c_generic_address_space __opencl_c_read_write_images
__opencl_c_work_group_collective_functions __opencl_c_atomic_order_acq_rel __opencl_c_atomic_order_seq_cst
__opencl_c_atomic_scope_device __opencl_c_atomic_scope_all_devices
__opencl_c_integer_dot_product_input_4x8bit __opencl_c_integer_dot_product_input_4x8bit_packed
__opencl_c_ext_fp32_global_atomic_add __opencl_c_ext_fp32_local_atomic_add
__opencl_c_ext_fp32_global_atomic_min_max __opencl_c_ext_fp32_local_atomic_min_max
__opencl_c_ext_fp64_global_atomic_add __opencl_c_ext_fp64_local_atomic_add
__opencl_c_ext_fp64_global_atomic_min_max __opencl_c_ext_fp64_local_atomic_min_max
""".split()
VERSIONS = {"CL_VERSION_1_0": 100, "CL_VERSION_1_1": 110, "CL_VERSION_1_2": 120, "CL_VERSION_2_0": 200,
            "CL_VERSION_3_0": 300}

DECLARATION = re.compile(r"^([\w ]+?) ?\b__ovld\b((?: |__\w+)*)\b(\w+)\s*\(([^()]*)\)$")

# The number of functions per file.
GROUP_SIZE = 400


def holds(condition, macros):
    """The value of the condition of an #if."""
    condition = re.sub(r"defined\s*\(?\s*(\w+)\s*\)?", lambda m: str(int(m[1] in macros)), condition)
    condition = re.sub(r"[A-Za-z_]\w*", lambda m: str(macros.get(m[0], 0)), condition)
    condition = condition.replace("&&", " and ").replace("||", " or ")
    return bool(eval(re.sub(r"!(?!=)", " not ", condition)))  # only digits and operators are left


def active_text(header, macros):
    """The lines that the preprocessor would keep."""
    kept = []
    blocks = []  # for each enclosing #if: whether a branch was taken before, and whether the current one is
    for line in header.split("\n"):
        directive = re.match(r"\s*#\s*(\w+)\s*(.*?)\s*$", line)
        if not directive:
            if all(active for _, active in blocks):
                kept.append(line)
            continue
        word, rest = directive.groups()
        if word in ("if", "ifdef", "ifndef"):
            value = holds(rest, macros) if word == "if" else (rest in macros) == (word == "ifdef")
            blocks.append((value, value))
        elif word == "elif":
            taken, _ = blocks[-1]
            value = not taken and holds(rest, macros)
            blocks[-1] = (taken or value, value)
        elif word == "else":
            taken, _ = blocks[-1]
            blocks[-1] = (True, not taken)
        elif word == "endif":
            blocks.pop()
    return "\n".join(kept)


def declarations(header, macros):
    text = active_text(re.sub(r"/\*.*?\*/|//[^\n]*", "", header.replace("\\\n", " "), flags=re.S), macros)
    for statement in text.split(";"):
        statement = " ".join(statement.split())
        match = DECLARATION.match(statement)
        if match:
            result, _, name, parameters = match.groups()
            yield result.strip(), name, [p.strip() for p in parameters.split(",") if p.strip() != "void"]
        elif "__ovld" in statement:
            raise SystemExit(f"builtin_calls.py: cannot parse this declaration of the header: {statement}")


def without_name(parameter):
    """The type of a parameter."""
    parameter = re.sub(r"\bgsampler|\bgimage", "", parameter)
    words = parameter.replace("*", " * ").split()
    # The last word is a name if the words before it are a complete type.
    qualifiers = {"const", "volatile", "__global", "__local", "__private", "__constant", "global", "local",
                  "private", "constant", "read_only", "write_only", "read_write", "restrict", "unsigned"}
    if len(words) > 1 and words[-1] != "*" and not set(words[:-1]) <= qualifiers:
        words = words[:-1]
    return " ".join(words)


def kernel(index, result, name, parameters):
    arguments = []
    call = []
    before = []
    after = []
    for i, parameter in enumerate(without_name(p) for p in parameters):
        words = parameter.split()
        value = f"a{i}"
        if parameter.endswith("*"):
            target = " ".join(w for w in words[:-1] if w not in ("__private", "private"))
            if {"__global", "global", "__local", "local", "__constant", "constant"} & set(words):
                arguments.append(f"{target}* {value}")
            else:
                # The kernel copies its argument to private memory and back.
                plain = " ".join(w for w in target.split() if w not in ("const", "volatile"))
                if plain == "void":
                    arguments.append(f"__global int* {value}")
                elif plain == "event_t":
                    before.append(f"event_t {value}_private = 0;")
                    value = f"&{value}_private"
                elif plain.startswith("atomic_"):
                    arguments.append(f"__global {target}* {value}")
                else:
                    arguments.append(f"__global {plain}* {value}")
                    before.append(f"{plain} {value}_private[16];"
                                  f" for (int i = 0; i < 16; ++i) {value}_private[i] = {value}[i];")
                    after.append(f"for (int i = 0; i < 16; ++i) {value}[i] = {value}_private[i];")
                    value += "_private"
        elif parameter == "event_t":
            value = "(event_t)0"
        elif parameter == "memory_order":
            value = "memory_order_acq_rel" if "load" not in name and "store" not in name and "clear" not in name else (
                "memory_order_acquire" if "load" in name else "memory_order_release")
            if "compare_exchange" in name and i + 1 < len(parameters) and "memory_order" not in parameters[i + 1] or (
                    "compare_exchange" in name and i + 1 == len(parameters)):
                value = "memory_order_acquire"
        elif parameter == "memory_scope":
            value = "memory_scope_device"
        elif parameter == "cl_mem_fence_flags":
            value = "CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE"
        elif name.startswith("sub_group_clustered") and i == len(parameters) - 1:
            value = "8"
        elif "image" in parameter and parameter.endswith("_t") or parameter == "sampler_t":
            arguments.append(f"{parameter} {value}")
        else:
            arguments.append(f"__global const {parameter}* {value}")
            value = f"*{value}"
        call.append(value)
    expression = f"{name}({', '.join(call)})"
    if result == "event_t":
        expression = f"event_t e = {expression}; wait_group_events(1, &e)"
    elif result != "void":
        plain = result.replace("bool", "int")
        arguments.append(f"__global {plain}* result")
        expression = f"*result = {expression}"
    body = " ".join([*before, expression + ";", *after])
    return f"__kernel void call_{index}_{name}({', '.join(arguments)}) {{ {body} }}\n"


def functions(header, version, more_macros):
    macros = {name: 1 for name in MACROS + more_macros}
    macros |= VERSIONS | {"__OPENCL_C_VERSION__": version}
    return dict.fromkeys((result, name, tuple(parameters)) for result, name, parameters in declarations(header, macros))


def write(folder, standard, calls):
    for start in range(0, len(calls), GROUP_SIZE):
        with open(folder / f"calls_{standard}_{start // GROUP_SIZE:02}.cl", "w", encoding="ascii") as file:
            file.write(f"// options: -cl-std=CL{standard}\n")
            for extension in ("cl_khr_fp16", "cl_khr_fp64", "cl_khr_depth_images", "cl_khr_3d_image_writes"):
                file.write(f"#pragma OPENCL EXTENSION {extension} : enable\n")
            for index, function in enumerate(calls[start:start + GROUP_SIZE]):
                file.write(kernel(start + index, *function))


def main():
    header = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")
    folder = pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    newest = functions(header, 300, MACROS_OF_3_0)
    oldest = functions(header, 120, MACROS_OF_1_2)
    write(folder, "3.0", list(newest))
    write(folder, "1.2", [function for function in oldest if function not in newest])


if __name__ == "__main__":
    main()
