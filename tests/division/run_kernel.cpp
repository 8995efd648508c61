// Executes random kernels.
#include <algorithm>
#include <limits>
#include <vector>

#include "division/kernel_nodes.hpp"

namespace clique::test::division {

namespace {

protocol::AtomicChange kind_of_change(std::int64_t change, Type type) {
  using protocol::AtomicChange;
  switch (change) {
    case 4:
      return is_signed(type) ? AtomicChange::LeastSigned : AtomicChange::LeastUnsigned;
    case 5:
      return is_signed(type) ? AtomicChange::GreatestSigned : AtomicChange::GreatestUnsigned;
    case 6:
      return AtomicChange::And;
    case 7:
      return AtomicChange::Or;
    case 8:
      return AtomicChange::ExclusiveOr;
    default:
      return AtomicChange::Add;
  }
}
__extension__ using Wide = __int128;
__extension__ using UnsignedWide = unsigned __int128;

/// The number of this type that is equal modulo 2^bits.
Wide wrapped(Wide value, Type type) {
  switch (type) {
    case Type::Int:
      return static_cast<std::int32_t>(value);
    case Type::UInt:
      return static_cast<std::uint32_t>(value);
    case Type::Long:
      return static_cast<std::int64_t>(value);
    case Type::ULong:
      return static_cast<std::uint64_t>(value);
  }
  return value;
}

/// The result of signed or unsigned arithmetic: signed numbers must not overflow.
Wide result(Wide value, Type type) {
  const Wide same = wrapped(value, type);
  if (is_signed(type) && same != value) throw Undefined();
  return same;
}

class Runner {
 public:
  Runner(const Item& item, const Scalars& scalars, Store& store, unsigned variables)
      : item_(item), scalars_(scalars), store_(store), variables_(variables) {}

  /// What follows a statement.
  enum class Flow : std::uint8_t { Next, Break, Continue, Return };

  Flow run(const std::vector<NodePtr>& statements) {
    for (const NodePtr& each : statements)
      if (const Flow flow = run(*each); flow != Flow::Next) return flow;
    return Flow::Next;
  }

 private:
  void step() {
    if (++steps_ > 20'000) throw Undefined();
  }

  Flow run(const Node& node) {
    step();
    switch (node.op) {
      case Op::Declare:
      case Op::Assign:
        variables_[node.index] = value(*node.operands[0]);
        return Flow::Next;
      case Op::If:
        return run(truth(*node.operands[0]) ? node.body : node.other);
      case Op::For:
        for (variables_[node.index] = value(*node.operands[0]); truth(*node.operands[1]);
             variables_[node.index] = value(*node.operands[2])) {
          step();
          const Flow flow = run(node.body);
          if (flow == Flow::Break) break;
          if (flow == Flow::Return) return flow;
        }
        return Flow::Next;
      case Op::DoWhile:
        variables_[node.index] = value(*node.operands[0]);
        do {
          step();
          const Flow flow = run(node.body);
          if (flow == Flow::Break) break;
          if (flow == Flow::Return) return flow;
          // Here, `continue` would skip the step.
          if (flow == Flow::Continue) continue;
          variables_[node.index] = value(*node.operands[2]);
        } while (truth(*node.operands[1]));
        return Flow::Next;
      case Op::StoreTo: {
        const unsigned size = kElements[node.value].second;
        value(*node.operands[1]);
        const unsigned buffer = buffer_of(node);
        const std::int64_t at = position(*node.operands[0], size);
        if (node.order == Node::Atomic) {
          store_.change(buffer, at, size, protocol::AtomicChange::Add, false);
        } else {
          store_.write(buffer, at, size);
        }
        return Flow::Next;
      }
      case Op::LoadFrom: {
        const unsigned size = kElements[node.value].second;
        const unsigned buffer = buffer_of(node);
        store_.read(buffer, position(*node.operands[0], size), size);
        return Flow::Next;
      }
      case Op::Walk:
        walk(node);
        return Flow::Next;
      case Op::Change: {
        const unsigned size = bits_of(node.type) / 8;
        if (node.operands.size() > 1) value(*node.operands[1]);
        store_.change(buffer_of(node), position(*node.operands[0], size), size,
                      kind_of_change(node.value, node.type), node.used);
        return Flow::Next;
      }
      case Op::StorePixel:
      case Op::LoadPixel: {
        std::array<std::int64_t, 3> at{};
        for (std::size_t d = 0; d < node.coordinates.size(); ++d)
          at[d] = static_cast<std::int64_t>(value(*node.coordinates[d]));
        if (node.op == Op::StorePixel) value(*node.operands[0]);
        store_.pixel(node.index, at, node.op == Op::StorePixel);
        return Flow::Next;
      }
      case Op::Return:
        return Flow::Return;
      case Op::Break:
        return Flow::Break;
      case Op::Continue:
        return Flow::Continue;
      default:
        return Flow::Next;
    }
  }

  unsigned buffer_of(const Node& node) {
    return node.body.empty() || truth(*node.body[0]) ? node.index : node.second;
  }

  void walk(const Node& node) {
    const unsigned size = kElements[node.value].second;
    const unsigned buffer = buffer_of(node);
    Wide at = value(*node.operands[0]);
    const auto number = [&](unsigned i) { return value(*node.operands[i]); };
    const Wide outer = number(1);
    for (Wide i = 0; i < outer; ++i) {
      const Wide inner = node.operands.size() > 4 ? number(4) : 1;
      for (Wide j = 0; j < inner; ++j) {
        step();
        if (at < 0 || at > Wide{1} << 30U) throw Undefined();
        const auto offset = static_cast<std::int64_t>(at * static_cast<int>(size));
        if (node.type == Type::UInt) {
          store_.write(buffer, offset, size);
        } else {
          store_.read(buffer, offset, size);
        }
        at += number(2);
      }
      at += number(3);
      step();
    }
  }

  std::int64_t position(const Node& index, unsigned size) {
    const Wide offset = value(index) * static_cast<int>(size);
    if (offset < 0 || offset > Wide{1} << 40U) throw Undefined();
    return static_cast<std::int64_t>(offset);
  }

  bool truth(const Node& node) {
    switch (node.op) {
      case Op::Less:
        return value(*node.operands[0]) < value(*node.operands[1]);
      case Op::LessEqual:
        return value(*node.operands[0]) <= value(*node.operands[1]);
      case Op::Equal:
        return value(*node.operands[0]) == value(*node.operands[1]);
      case Op::Different:
        return value(*node.operands[0]) != value(*node.operands[1]);
      case Op::Both:
        return truth(*node.operands[0]) && truth(*node.operands[1]);
      default:
        return truth(*node.operands[0]) || truth(*node.operands[1]);
    }
  }

  Wide query(const Node& node) const {
    const unsigned d = node.index;
    switch (node.value) {
      case 0:
        return item_.global[d];
      case 1:
        return item_.local[d];
      case 2:
        return item_.group[d];
      case 3:
        return item_.global_size[d];
      case 4:
        return item_.local_size[d];
      case 5:
        return item_.groups[d];
      case 6:
        return item_.offset[d];
      default:
        return item_.enqueued_size[d];
    }
  }

  /// OpenCL C shifts by the lowest bits of a number.
  unsigned shift(const Node& node) {
    if (node.operands.size() < 2) return static_cast<unsigned>(node.value);
    return static_cast<unsigned>(value(*node.operands[1]) & (bits_of(node.type) - 1));
  }

  Wide value(const Node& node) {
    const auto operand = [&](unsigned i) { return value(*node.operands[i]); };
    switch (node.op) {
      case Op::Number:
        return node.value;
      case Op::Scalar: {
        const Wide values[] = {scalars_.a, scalars_.b, scalars_.c, scalars_.d};
        return wrapped(values[node.index], node.type);
      }
      case Op::Query:
        return wrapped(query(node), node.type);
      case Op::Variable:
        return variables_[node.index];
      case Op::Cast:
        return wrapped(operand(0), node.type);
      case Op::Narrow: {
        const Wide whole = operand(0);
        const Wide narrow = node.value == 0   ? Wide{static_cast<std::int8_t>(whole)}
                            : node.value == 1 ? Wide{static_cast<std::uint8_t>(whole)}
                            : node.value == 2 ? Wide{static_cast<std::int16_t>(whole)}
                                              : Wide{static_cast<std::uint16_t>(whole)};
        return wrapped(narrow, node.type);
      }
      case Op::Add:
        return result(operand(0) + operand(1), node.type);
      case Op::Subtract:
        return result(operand(0) - operand(1), node.type);
      case Op::Multiply: {
        // Unsigned numbers of 64 bits do not fit their product into 128 bits with a sign.
        const Wide a = operand(0);
        const Wide b = operand(1);
        Wide product;
        if (__builtin_mul_overflow(a, b, &product)) throw Undefined();
        return result(product, node.type);
      }
      case Op::Divide:
      case Op::Remainder: {
        const Wide a = operand(0);
        const Wide b = operand(1);
        if (b == 0) throw Undefined();
        return result(node.op == Op::Divide ? a / b : a % b, node.type);
      }
      case Op::ShiftLeft:
        return wrapped(static_cast<Wide>(static_cast<UnsignedWide>(operand(0)) << shift(node)), node.type);
      case Op::ShiftRight:
        return operand(0) >> shift(node);
      case Op::And:
        return wrapped(operand(0) & operand(1), node.type);
      case Op::Or:
        return wrapped(operand(0) | operand(1), node.type);
      case Op::ExclusiveOr:
        return wrapped(operand(0) ^ operand(1), node.type);
      case Op::Least:
        return std::min(operand(0), operand(1));
      case Op::Greatest:
        return std::max(operand(0), operand(1));
      case Op::Clamp: {
        const Wide low = operand(1);
        const Wide high = operand(2);
        if (low > high) throw Undefined();
        return std::clamp(operand(0), low, high);
      }
      case Op::Choice:
        return truth(*node.operands[0]) ? operand(1) : operand(2);
      case Op::Load: {
        const std::uint64_t read = store_.read(1, position(*node.operands[0], 1), 1);
        return wrapped(read, node.type);
      }
      case Op::Multiply24: {
        const Wide a = operand(0);
        const Wide b = operand(1);
        const Wide most = is_signed(node.type) ? Wide{1} << 23U : Wide{1} << 24U;
        if (a >= most || b >= most || a < (is_signed(node.type) ? -most : 0) ||
            b < (is_signed(node.type) ? -most : 0))
          throw Undefined();
        return wrapped(a * b, node.type);
      }
      default:
        return 0;
    }
  }

  const Item& item_;
  const Scalars& scalars_;
  Store& store_;
  std::vector<Wide> variables_;
  unsigned steps_ = 0;
};
}  // namespace

void RandomKernel::run(const Item& item, const Scalars& scalars, Store& store) const {
  Runner(item, scalars, store, variables_).run(body_);
}
}  // namespace clique::test::division
