// The source of random kernels, in OpenCL C.
#include <string>
#include <vector>

#include "division/kernel_nodes.hpp"

namespace clique::test::division {

namespace {

std::string text(const Node& node);

std::string in(Type type, const std::string& inner) {
  return "((" + std::string(kTypes[static_cast<unsigned>(type)]) + ")(" + inner + "))";
}

std::string text(const Node& node) {
  const auto operand = [&](unsigned i) { return text(*node.operands[i]); };
  const auto sign = [&](const char* sign) { return '(' + operand(0) + ' ' + sign + ' ' + operand(1) + ')'; };
  const auto call = [&](const char* name) {
    std::string list;
    for (const NodePtr& each : node.operands) list += (list.empty() ? "" : ", ") + text(*each);
    return name + ('(' + list + ')');
  };
  switch (node.op) {
    case Op::Number:
      if (node.value == std::numeric_limits<std::int64_t>::min()) return "((long)0x8000000000000000UL)";
      return in(node.type, std::to_string(node.value) + (bits_of(node.type) == 64 ? "L" : ""));
    case Op::Scalar:
      return in(node.type, std::string(1, static_cast<char>('a' + node.index)));
    case Op::Query:
      return in(node.type, std::string(kQueries[node.value]) + '(' + std::to_string(node.index) + ')');
    case Op::Variable:
      return "v" + std::to_string(node.index);
    case Op::Cast:
      return in(node.type, operand(0));
    case Op::Narrow:
      return in(node.type, "(" + std::string(kNarrow[node.value]) + ")" + operand(0));
    case Op::Add:
      return sign("+");
    case Op::Subtract:
      return sign("-");
    case Op::Multiply:
      return sign("*");
    case Op::Divide:
      return sign("/");
    case Op::Remainder:
      return sign("%");
    case Op::ShiftLeft:
      return node.operands.size() > 1 ? sign("<<")
                                      : '(' + operand(0) + " << " + std::to_string(node.value) + ')';
    case Op::ShiftRight:
      return node.operands.size() > 1 ? sign(">>")
                                      : '(' + operand(0) + " >> " + std::to_string(node.value) + ')';
    case Op::And:
      return sign("&");
    case Op::Or:
      return sign("|");
    case Op::ExclusiveOr:
      return sign("^");
    case Op::Least:
      return call("min");
    case Op::Greatest:
      return call("max");
    case Op::Clamp:
      return call("clamp");
    case Op::Multiply24:
      return call("mul24");
    case Op::Choice:
      return '(' + operand(0) + " ? " + operand(1) + " : " + operand(2) + ')';
    case Op::Load:
      return in(node.type, "b1[" + operand(0) + "]");
    case Op::Less:
      return sign("<");
    case Op::LessEqual:
      return sign("<=");
    case Op::Equal:
      return sign("==");
    case Op::Different:
      return sign("!=");
    case Op::Both:
      return sign("&&");
    case Op::Any:
      return sign("||");
    default:
      return {};
  }
}

std::string block(const std::vector<NodePtr>& statements, const std::string& indent);

/// The coordinates of a pixel, in one of several forms.
std::string coordinates_text(const Node& node) {
  std::vector<std::string> each;
  for (const NodePtr& coordinate : node.coordinates) each.push_back(text(*coordinate));
  if (each.size() == 1) return each[0];
  const std::string plain = "(int2)(" + each[0] + ", " + each[1] + ")";
  const std::string form = node.value == 0   ? plain
                           : node.value == 1 ? "((int2)(" + each[1] + ", " + each[0] + ")).yx"
                           : node.value == 2 ? "(" + plain + " * (int2)(1, 1) + (int2)(0))"
                                             : "(" + plain + " - (int2)(0, 0))";
  return each.size() == 2 ? form : "(int4)(" + form + ", " + each[2] + ", 0)";
}

/// An atomic operation, in a form of OpenCL C 1.x or in one of two of 2.0.
std::string change_text(const Node& node, const std::string& buffer) {
  const std::string type = kTypes[static_cast<unsigned>(node.type)];
  const std::string operation = kChanges[node.value];
  const bool old = node.second == 0 || !has_operand(node.value);
  const std::string function = old ? (bits_of(node.type) == 64 ? "atom_" : "atomic_") + operation
                                   : "atomic_fetch_" + operation + (node.second == 2 ? "_explicit" : "");
  return function + "((volatile __global " + (old ? "" : "atomic_") + type + "*)" + buffer + " + " +
         text(*node.operands[0]) +
         (has_operand(node.value) ? ", (" + type + ")" + text(*node.operands[1]) : std::string()) +
         (!old && node.second == 2 ? ", memory_order_relaxed, memory_scope_device)" : ")");
}

std::string statement(const Node& node, const std::string& indent) {
  const auto variable = "v" + std::to_string(node.index);
  const auto operand = [&](unsigned i) { return text(*node.operands[i]); };
  const auto pointer = [&] {
    const std::string one = "b" + std::to_string(node.index);
    const std::string chosen = node.body.empty()
                                   ? one
                                   : '(' + text(*node.body[0]) + " ? (__global uchar*)" + one +
                                         " : (__global uchar*)b" + std::to_string(node.second) + ')';
    return std::string(node.order == Node::Plain ? "((__global " : "((volatile __global ") +
           kElements[node.value].first + "*)" + chosen + ')';
  };
  const auto element = [&] { return pointer() + '[' + operand(0) + ']'; };
  switch (node.op) {
    case Op::Declare:
      return indent + kTypes[static_cast<unsigned>(node.type)] + ' ' + variable + " = " + operand(0) + ";\n";
    case Op::Assign:
      return indent + variable + " = " + operand(0) + ";\n";
    case Op::If:
      return indent + "if (" + operand(0) + ") {\n" + block(node.body, indent + "  ") + indent + "}" +
             (node.other.empty() ? "\n" : " else {\n" + block(node.other, indent + "  ") + indent + "}\n");
    case Op::For:
      return indent + "for (" + kTypes[static_cast<unsigned>(node.type)] + ' ' + variable + " = " +
             operand(0) + "; " + operand(1) + "; " + variable + " = " + operand(2) + ") {\n" +
             block(node.body, indent + "  ") + indent + "}\n";
    case Op::DoWhile:
      return indent + "{\n" + indent + kTypes[static_cast<unsigned>(node.type)] + ' ' + variable + " = " +
             operand(0) + ";\n" + indent + "do {\n" + block(node.body, indent + "  ") + indent + "  " +
             variable + " = " + operand(2) + ";\n" + indent + "} while (" + operand(1) + ");\n" + indent +
             "}\n";
    case Op::StoreTo:
      if (node.order == Node::Atomic)
        return indent + "atomic_add(&" + element() + ", (int)" + operand(1) + ");\n";
      return indent + element() + " = " +
             (std::string(kElements[node.value].first) == "int4" ? "(int4)" : "") + "(acc + (int)" +
             operand(1) + ");\n";
    case Op::LoadFrom:
      return indent + "acc += (uint)" + element() +
             (std::string(kElements[node.value].first) == "int4" ? ".y" : "") + ";\n";
    case Op::Walk: {
      const std::string type = kElements[node.value].first;
      const bool vector = type == "int4";
      std::string used = node.type == Type::UInt ? std::string("*p = ") + (vector ? "(int4)" : "") + "(acc);"
                                                 : std::string("acc += (uint)(*p)") + (vector ? ".y;" : ";");
      used += " p += " + operand(2) + ';';
      if (node.operands.size() > 4) used = "for (int j = 0; j < " + operand(4) + "; ++j) { " + used + " }";
      return indent + "{ __global " + type + "* p = " + pointer() + " + " + operand(0) + ";\n" + indent +
             "  for (int i = 0; i < " + operand(1) + "; ++i) { " + used + " p += " + operand(3) + "; } }\n";
    }
    case Op::Change:
      return indent + (node.used ? "acc += (uint)" : "") +
             change_text(node, "b" + std::to_string(node.index)) + ";\n";
    case Op::StorePixel:
      return indent + "write_imageui(i0, " + coordinates_text(node) + ", (uint4)((acc + (uint)" + operand(0) +
             ") & 255));\n";
    case Op::LoadPixel:
      return indent + "acc += read_imageui(i" + std::to_string(node.index) +
             (node.second != 0 ? ", nearest, " : ", ") + coordinates_text(node) + ").x;\n";
    case Op::Return:
      return indent + "return;\n";
    case Op::Break:
      return indent + "break;\n";
    case Op::Continue:
      return indent + "continue;\n";
    case Op::Barrier:
      return indent + "barrier(CLK_GLOBAL_MEM_FENCE);\n";
    default:
      return {};
  }
}

std::string block(const std::vector<NodePtr>& statements, const std::string& indent) {
  std::string result;
  for (const NodePtr& each : statements) result += statement(*each, indent);
  return result;
}

}  // namespace
std::string RandomKernel::source() const {
  return "#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable\n"
         "#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable\n"
         "__kernel void " +
         name_ +
         "(__global uchar* b0, __global const uchar* b1, __global uchar* b2, int a, int b, uint c, long d" +
         (images_ == nullptr ? std::string()
                             : std::string(", __read_write ") + images_->type + " i0, __read_only " +
                                   images_->type + " i1") +
         ") {\n"
         "  const sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | "
         "CLK_FILTER_NEAREST;\n"
         "  uint acc = 0;\n" +
         block(body_, "  ") + "}\n";
}
}  // namespace clique::test::division
