#!/usr/bin/env python3
"""Writes convert.cl, the explicit conversions (OpenCL C specification, §6.3.3 and §6.4.3): convert.py OUTPUT

Scalar conversions are written out; vector conversions call them for each component.
"""

import sys

# The types and their sizes in bits.
INTEGERS = {"char": 8, "uchar": 8, "short": 16, "ushort": 16, "int": 32, "uint": 32, "long": 64, "ulong": 64}
FLOATS = {"half": 16, "float": 32, "double": 64}
TYPES = {**INTEGERS, **FLOATS}

# Rounding modes: the suffix in OpenCL C, and PTX's names for conversions to integers and to floating-point
# numbers.
ROUNDINGS = {"_rte": ("rn", "rn"), "_rtz": ("rz", "rz"), "_rtp": ("rp", "rp"), "_rtn": ("rm", "rm")}

# Clang's abbreviations for types in its functions for the hardware's conversions. Those for 64-bit integers
# cannot be
# used, because they take 128-bit integers in OpenCL C. Nor can those that convert to or from integers and
# round towards
# zero: LLVM treats them as C's conversions, which have no result out of range and round otherwise.
NVVM = {"int": "i", "uint": "ui", "float": "f", "double": "d"}


def has_name(to, source, mode):
    """Whether Clang has a usable function for the conversion."""
    return to in NVVM and source in NVVM and (mode != "rz" or (to in FLOATS and source in FLOATS))


# Constraints of operands and PTX's names of types, for conversions without a usable function in Clang.
PTX = {
    "half": ("h", "f16"), "float": ("f", "f32"), "double": ("d", "f64"),
    "int": ("r", "s32"), "uint": ("r", "u32"), "long": ("l", "s64"), "ulong": ("l", "u64"),
}


def signed(name):
    return name in INTEGERS and not name.startswith("u")


def least(name):
    return f"(-({name}){2 ** (INTEGERS[name] - 1) - 1} - 1)" if signed(name) else f"({name})0"


def greatest(name):
    bits = INTEGERS[name] - signed(name)
    return f"({name}){hex(2 ** bits - 1)}"


def is_exact(to, source):
    """Whether every value of `source` is one of the floating-point type `to`."""
    if source in FLOATS:
        return TYPES[to] >= TYPES[source]
    digits = {"half": 11, "float": 24, "double": 53}[to]
    return INTEGERS[source] - signed(source) <= digits


def integer_to_integer(to, source, saturate):
    if not saturate:
        return f"({to})x"
    bounds = []
    if signed(source) and (not signed(to) or INTEGERS[to] < INTEGERS[source]):
        bounds.append(f"x < ({source}){least(to)} ? {least(to)} : ")
    if INTEGERS[to] - signed(to) < INTEGERS[source] - signed(source):
        bounds.append(f"x > ({source}){greatest(to)} ? {greatest(to)} : ")
    return "".join(bounds) + f"({to})x"


def float_to_integer(to, source, rounding, saturate):
    mode = ROUNDINGS[rounding or "_rtz"][0]
    if source == "half":
        value, source = "(float)x", "float"
    else:
        value = "x"
    # The hardware saturates to 32 or 64 bits.
    wide = to if INTEGERS[to] >= 32 else "int"
    if mode == "rz" and not saturate:
        number = f"({wide}){value}"
    elif has_name(wide, source, mode):
        number = f"__nvvm_{NVVM[source]}2{NVVM[wide]}_{mode}({value})"
    else:
        number = f"{source}_to_{wide}_{mode}({value})"
    if not saturate:
        return f"({to}){number}"
    if wide != to:
        number = f"convert_{to}_sat((int){number})"
    # NaN must become 0, which the hardware does not always do.
    return f"x != x ? ({to})0 : ({to}){number}"


def to_float(to, source, rounding):
    if is_exact(to, source) or rounding in ("", "_rte"):
        return f"({to})x"
    mode = ROUNDINGS[rounding][1]
    if has_name(to, source, mode):
        return f"__nvvm_{NVVM[source]}2{NVVM[to]}_{mode}(x)"
    if source in ("short", "ushort"):
        source = "int"
    return f"{source}_to_{to}_{mode}(x)"


def instruction(to, source, mode, ptx_mode):
    """A function for a conversion that has no usable function in Clang."""
    return (
        f"static {to} {source}_to_{to}_{mode}({source} x) {{\n"
        f"  {to} result;\n"
        f'  __asm__("cvt.{ptx_mode}.{PTX[to][1]}.{PTX[source][1]} %0, %1;"'
        f' : "={PTX[to][0]}"(result) : "{PTX[source][0]}"(x));\n'
        f"  return result;\n"
        f"}}\n"
    )


def instructions():
    for mode in ("rz", "rp", "rm"):
        for source in ("float", "double", "int", "uint", "long", "ulong"):
            yield instruction("half", source, mode, mode)
        for source in ("int", "uint", "long", "ulong"):
            for to in ("float", "double"):
                if not has_name(to, source, mode) and not is_exact(to, source):
                    yield instruction(to, source, mode, mode)
    for mode in ("rn", "rz", "rp", "rm"):
        for source in ("float", "double"):
            for to in ("int", "uint", "long", "ulong"):
                if not has_name(to, source, mode):
                    yield instruction(to, source, mode, mode + "i")


def conversions():
    for to in TYPES:
        for source in TYPES:
            for saturate in ("", "_sat") if to in INTEGERS else ("",):
                for rounding in ("", *ROUNDINGS):
                    if to in FLOATS:
                        expression = to_float(to, source, rounding)
                    elif source in FLOATS:
                        expression = float_to_integer(to, source, rounding, saturate)
                    else:
                        expression = integer_to_integer(to, source, saturate)
                    yield f"CONVERT({to}, {source}, {saturate + rounding}, {expression})\n"


def main():
    with open(sys.argv[1], "w", encoding="ascii") as out:
        out.write('// Generated by convert.py.\n#include "builtins.h"\n\n')
        out.writelines(instructions())
        out.write(
            "\n#define CONVERT(to, from, mode, expression) \\\n"
            "  OVERLOAD to convert_##to##mode(from x) { return expression; } \\\n"
            "  CONVERT_VECTOR(2, to, from, mode, (convert_##to##mode(x.s0), convert_##to##mode(x.s1))) \\\n"
            "  CONVERT_VECTOR(3, to, from, mode, \\\n"
            "                 (convert_##to##mode(x.s0), convert_##to##mode(x.s1), convert_##to##mode(x.s2))) \\\n"
            "  CONVERT_VECTOR(4, to, from, mode, (convert_##to##2##mode(x.lo), convert_##to##2##mode(x.hi))) \\\n"
            "  CONVERT_VECTOR(8, to, from, mode, (convert_##to##4##mode(x.lo), convert_##to##4##mode(x.hi))) \\\n"
            "  CONVERT_VECTOR(16, to, from, mode, (convert_##to##8##mode(x.lo), convert_##to##8##mode(x.hi)))\n"
            "#define CONVERT_VECTOR(n, to, from, mode, components) \\\n"
            "  OVERLOAD to##n convert_##to##n##mode(from##n x) { return (to##n)components; }\n\n"
        )
        out.writelines(conversions())


if __name__ == "__main__":
    main()
