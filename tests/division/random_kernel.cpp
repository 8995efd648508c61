#include "division/random_kernel.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "division/kernel_nodes.hpp"

namespace clique::test::division {

class Generator {
 public:
  Generator(RandomKernel& kernel, Random& random) : kernel_(kernel), random_(random) {
    groups_ = random.percent(50);
    whole_ = random.percent(25);
    returns_ = random_.percent(30);
    if (random_.percent(50)) kernel_.images_ = &random_.of(kImageKinds);
    changes_ = random_.percent(30);
    if (!changes_) return;
    changed_ = static_cast<unsigned>(random_.below(2) * 2);
    change_ = static_cast<std::int64_t>(random_.below(std::size(kChanges)));
    change_type_ = type();
    only_changes_ = random_.percent(75);
  }

  void generate() {
    const auto count = random_.between(1, 3);
    for (std::int64_t i = 0; i < count; ++i) kernel_.body_.push_back(declaration());
    if (returns_) {
      NodePtr leave = make(Op::If);
      leave->operands.push_back(condition());
      leave->body.push_back(make(Op::Return));
      kernel_.body_.push_back(std::move(leave));
    }
    statements(kernel_.body_, random_.between(1, 4), 0);
    kernel_.body_.push_back(access_of_any_kind(true));
  }

 private:
  struct Variable {
    unsigned index;
    Type type;
    bool fixed;  ///< of a loop
  };

  static NodePtr make(Op op, Type type = Type::Int) {
    auto node = std::make_unique<Node>();
    node->op = op;
    node->type = type;
    return node;
  }
  static NodePtr number(std::int64_t value, Type type) {
    NodePtr node = make(Op::Number, type);
    node->value = value;
    return node;
  }
  NodePtr binary(Op op, NodePtr a, NodePtr b) {
    NodePtr node = make(op, a->type);
    node->operands.push_back(std::move(a));
    node->operands.push_back(std::move(b));
    return node;
  }
  static NodePtr cast(NodePtr inner, Type type) {
    if (inner->type == type) return inner;
    NodePtr node = make(Op::Cast, type);
    node->operands.push_back(std::move(inner));
    return node;
  }

  Type type() { return random_.percent(50) ? Type::Int : static_cast<Type>(random_.below(4)); }

  /// A value that programs compute addresses from.
  NodePtr leaf(Type type) {
    const auto kind = random_.below(100);
    if (kind < 45 || (kind < 60 && variables_.empty())) {
      NodePtr node = make(Op::Query, type);
      node->index = static_cast<unsigned>(random_.percent(70) ? 0 : random_.below(3));
      node->value = 0;
      if (groups_ && random_.percent(50)) {
        node->value = random_.of(std::array{1, 1, 4, 7});
        if (whole_) node->value = random_.of(std::array{1, 2, 2, 4, 5});
        kernel_.uses_groups_ = true;
      } else if (whole_ && random_.percent(25)) {
        node->value = random_.of(std::array{3, 6});
      }
      return node;
    }
    if (kind < 60) {
      const Variable& variable = random_.of(variables_);
      NodePtr node = make(Op::Variable, variable.type);
      node->index = variable.index;
      return cast(std::move(node), type);
    }
    if (kind < 75) {
      NodePtr node = make(Op::Scalar, type);
      node->index = static_cast<unsigned>(random_.below(4));
      return node;
    }
    static constexpr std::int64_t kNumbers[] = {0,  1,  2,  3,   4,   5,   7,  8,  16,
                                                17, 31, 64, 100, 127, 255, -1, -2, -8};
    std::int64_t value = random_.of(kNumbers);
    if (random_.percent(2)) value = std::numeric_limits<std::int32_t>::max() - random_.between(0, 3);
    if (!is_signed(type) && value < 0) value = -value;
    return number(value, type);
  }

  NodePtr expression(Type type, unsigned depth) {
    if (depth == 0 || random_.percent(25)) return leaf(type);
    const auto next = [&] { return expression(type, depth - 1); };
    const auto small = [&] { return number(random_.between(1, 17), type); };
    switch (random_.below(20)) {
      case 0:
      case 1:
      case 2:
      case 3:
      case 4:
        return binary(Op::Add, next(), next());
      case 5:
      case 6:
        return binary(Op::Subtract, next(), next());
      case 7:
      case 8:
      case 9:
        return binary(Op::Multiply, next(), random_.percent(75) ? small() : leaf(type));
      case 10:
        return binary(Op::Divide, next(), small());
      case 11:
        return binary(Op::Remainder, next(), random_.percent(80) ? small() : leaf(type));
      case 12: {
        NodePtr node = make(random_.percent(50) ? Op::ShiftLeft : Op::ShiftRight, type);
        node->value = random_.between(0, 5);
        node->operands.push_back(next());
        if (random_.percent(40)) node->operands.push_back(random_.percent(60) ? small() : leaf(type));
        return node;
      }
      case 13:
        if (random_.percent(50)) return bits(type, depth);
        return binary(Op::And, next(),
                      number(random_.of(std::array<std::int64_t, 6>{1, 3, 7, 15, 63, 6}) *
                                 (is_signed(type) && random_.percent(20) ? -4 : 1),
                             type));
      case 14:
        return binary(random_.percent(50) ? Op::Least : Op::Greatest, next(), next());
      case 15: {
        NodePtr node = make(Op::Clamp, type);
        node->operands.push_back(next());
        node->operands.push_back(number(random_.between(0, 3), type));
        node->operands.push_back(number(random_.between(3, 40), type));
        return node;
      }
      case 16: {
        NodePtr node = make(Op::Choice, type);
        node->operands.push_back(condition());
        node->operands.push_back(next());
        node->operands.push_back(next());
        return node;
      }
      case 17: {
        if (random_.percent(50)) {
          NodePtr node = make(Op::Narrow, type);
          node->value = static_cast<std::int64_t>(random_.below(4));
          node->operands.push_back(next());
          return node;
        }
        if (random_.percent(30) && bits_of(type) == 32) return binary(Op::Multiply24, next(), small());
        return cast(expression(this->type(), depth - 1), type);
      }
      case 18: {
        if (random_.percent(60)) return cast(expression(this->type(), depth - 1), type);
        NodePtr node = make(Op::Load, type);
        node->operands.push_back(binary(Op::Remainder, cast(next(), Type::UInt), number(64, Type::UInt)));
        return node;
      }
      default:
        return cast(expression(this->type(), depth - 1), type);
    }
  }

  /// (a << n) | b, where b has mostly less than n bits; a ^ b; ~a.
  NodePtr bits(Type type, unsigned depth) {
    const Op op = random_.percent(70) ? Op::Or : Op::ExclusiveOr;
    const std::int64_t low = random_.of(std::array<std::int64_t, 4>{1, 3, 7, 31});
    if (op == Op::ExclusiveOr && random_.percent(30))
      return binary(op, expression(type, depth - 1), cast(number(-1, Type::Int), type));
    NodePtr high = binary(Op::Multiply, expression(type, depth - 1),
                          number(random_.percent(80) ? low + 1 : random_.between(1, 9), type));
    NodePtr rest = binary(Op::And, expression(type, depth - 1), number(low, type));
    if (random_.percent(20)) rest = leaf(type);
    if (random_.percent(30)) std::swap(high, rest);
    return binary(op, std::move(high), std::move(rest));
  }

  NodePtr condition(unsigned depth = 1) {
    if (depth > 0 && random_.percent(15)) {
      NodePtr node = make(random_.percent(70) ? Op::Both : Op::Any);
      node->operands.push_back(condition(depth - 1));
      node->operands.push_back(condition(depth - 1));
      return node;
    }
    const Type type = this->type();
    const Op op = random_.of(std::array{Op::Less, Op::Less, Op::LessEqual, Op::Equal, Op::Different});
    NodePtr a = expression(type, 1);
    NodePtr b = random_.percent(60) ? number(random_.between(0, 60), type) : leaf(type);
    if (random_.percent(30)) std::swap(a, b);
    return binary(op, std::move(a), std::move(b));
  }

  NodePtr declaration() {
    const Type type = this->type();
    NodePtr node = make(Op::Declare, type);
    node->operands.push_back(expression(type, 2));
    node->index = kernel_.variables_++;
    variables_.push_back({node->index, type, false});
    return node;
  }

  /// Makes the pointer of an access one to one of two buffers.
  void choose(Node& node, bool writes) {
    node.second = writes ? written_buffer() : read_buffer();
    node.body.push_back(condition());
  }

  /// { T* p = buffer + start; for (i < n) { for (j < m) { *p; p += step; } p += skip; } }
  NodePtr walk() {
    // What tells a write from a read.
    const bool writes = random_.percent(60);
    NodePtr node = make(Op::Walk, writes ? Type::UInt : Type::Int);
    node->value = static_cast<std::int64_t>(random_.below(std::size(kElements)));
    node->index = writes ? written_buffer() : read_buffer();
    if (random_.percent(30)) choose(*node, writes);
    node->operands.push_back(linear(Type::Int));
    node->operands.push_back(random_.percent(70) ? number(random_.between(0, 5), Type::Int)
                                                 : leaf(Type::Int));
    node->operands.push_back(random_.percent(80) ? number(random_.between(-2, 9), Type::Int)
                                                 : leaf(Type::Int));
    node->operands.push_back(number(random_.percent(50) ? 0 : random_.between(-3, 12), Type::Int));
    if (random_.percent(40)) node->operands.push_back(number(random_.between(0, 4), Type::Int));
    return node;
  }

  /// A buffer that the kernel may write; b1 is not one.
  unsigned written_buffer() {
    if (changes_ && (only_changes_ || random_.percent(70))) return 2 - changed_;
    return static_cast<unsigned>(random_.below(2) * 2);
  }
  unsigned read_buffer() {
    if (changes_ && only_changes_) return random_.percent(50) ? 1 : 2 - changed_;
    return static_cast<unsigned>(random_.below(kBuffers));
  }

  /// An atomic operation, mostly the same on the same buffer, whose place mostly depends on data.
  NodePtr change() {
    const bool usual = random_.percent(85);
    NodePtr node = make(Op::Change, usual || random_.percent(50) ? change_type_ : type());
    node->index = usual || only_changes_ || random_.percent(50) ? changed_
                                                                : static_cast<unsigned>(random_.below(2) * 2);
    node->value = usual || random_.percent(50)
                      ? change_
                      : static_cast<std::int64_t>(random_.below(std::size(kChanges)));
    // These are one kind of operation.
    if (node->value < 4 && random_.percent(50)) node->value = random_.between(0, 3);
    node->second = static_cast<unsigned>(random_.below(3));
    node->used = random_.percent(usual ? 3 : 15);
    const auto most = static_cast<std::int64_t>(2048 / (bits_of(node->type) / 8));
    const std::int64_t few = random_.of(std::array<std::int64_t, 4>{1, 4, 16, most});
    NodePtr place;
    if (random_.percent(60)) {
      NodePtr data = make(Op::Load, Type::UInt);
      data->operands.push_back(binary(Op::Remainder, linear(Type::UInt), number(64, Type::UInt)));
      place = binary(Op::Remainder, std::move(data), number(few, Type::UInt));
    } else if (random_.percent(60)) {
      place = binary(Op::Remainder, expression(Type::UInt, 2), number(few, Type::UInt));
    } else {
      place = linear(Type::UInt);
    }
    // Bytes of its own, perhaps.
    if (!usual && random_.percent(60))
      place = binary(Op::Add, binary(Op::Remainder, std::move(place), number(most / 2, Type::UInt)),
                     number(most / 2, Type::UInt));
    node->operands.push_back(std::move(place));
    if (has_operand(node->value)) node->operands.push_back(leaf(node->type));
    return node;
  }

  /// An access to a buffer or an image.
  NodePtr access_of_any_kind(bool writes) {
    if (writes && changes_ && random_.percent(50)) return change();
    return kernel_.images_ != nullptr && random_.percent(70) ? pixel(writes) : access(writes);
  }

  /// An access to a pixel that lies in the image, mostly.
  NodePtr pixel(bool writes) {
    const ImageKind& kind = *kernel_.images_;
    NodePtr node = make(writes ? Op::StorePixel : Op::LoadPixel);
    node->index = writes || random_.percent(40) ? 0 : 1;
    // What tells reads with a sampler.
    node->second = node->index == 1 && !kind.in_buffer ? 1 : 0;
    node->value = static_cast<std::int64_t>(random_.below(4));
    if (writes) node->operands.push_back(leaf(Type::Int));
    const bool guarded = random_.percent(40);
    std::vector<NodePtr> declared;
    NodePtr within;
    const bool turned = random_.percent(15);
    for (unsigned d = 0; d < kind.dimensions; ++d) {
      const auto most = static_cast<std::int64_t>(kind.extent[d]);
      NodePtr at = coordinate(turned ? kind.dimensions - 1 - d : d, most);
      if (guarded) {
        NodePtr variable = make(Op::Declare, Type::Int);
        variable->index = kernel_.variables_++;
        variable->operands.push_back(std::move(at));
        const auto use = [&variable] {
          NodePtr used = make(Op::Variable, Type::Int);
          used->index = variable->index;
          return used;
        };
        // if (0 <= x && x < most && …)
        NodePtr test = make(Op::Both);
        test->operands.push_back(binary(Op::LessEqual, number(0, Type::Int), use()));
        test->operands.push_back(binary(Op::Less, use(), number(most, Type::Int)));
        within = within ? binary(Op::Both, std::move(within), std::move(test)) : std::move(test);
        at = use();
        declared.push_back(std::move(variable));
      }
      node->coordinates.push_back(std::move(at));
    }
    if (!guarded) return node;
    NodePtr guard = make(Op::If);
    guard->operands.push_back(std::move(within));
    guard->body.push_back(std::move(node));
    // A condition that always holds keeps them one statement.
    NodePtr both = make(Op::If);
    both->operands.push_back(binary(Op::Equal, number(0, Type::Int), number(0, Type::Int)));
    both->body = std::move(declared);
    both->body.push_back(std::move(guard));
    return both;
  }

  /// Mostly the id of the same dimension.
  NodePtr coordinate(unsigned dimension, std::int64_t extent) {
    NodePtr id = make(Op::Query, Type::Int);
    id->index = dimension;
    const auto kind = random_.below(100);
    if (kind < 55) return id;
    if (kind < 75) {
      NodePtr sum = random_.percent(40)
                        ? binary(Op::Multiply, std::move(id), number(random_.between(1, 3), Type::Int))
                        : std::move(id);
      return binary(random_.percent(70) ? Op::Add : Op::Subtract, std::move(sum),
                    random_.percent(80) ? number(random_.between(0, 4), Type::Int) : leaf(Type::Int));
    }
    if (kind < 85) return linear(Type::Int);
    NodePtr any = expression(Type::Int, 2);
    if (kind < 90) return any;
    return cast(binary(Op::Remainder, cast(std::move(any), Type::UInt), number(extent, Type::UInt)),
                Type::Int);
  }

  /// An access to an element that lies in the buffer, mostly.
  NodePtr access(bool writes) {
    const auto element = static_cast<std::int64_t>(random_.below(std::size(kElements)));
    NodePtr node = make(writes ? Op::StoreTo : Op::LoadFrom);
    node->value = element;
    node->index = writes ? written_buffer() : read_buffer();
    if (random_.percent(12)) choose(*node, writes);
    if (writes && random_.percent(15)) node->order = element == 2 ? Node::Atomic : Node::Volatile;
    const Type type = this->type();
    NodePtr index = random_.percent(50) ? linear(type) : expression(type, 3);
    const auto most = static_cast<std::int64_t>(2048 / kElements[element].second);
    const auto shape = random_.below(10);
    NodePtr guard;
    if (shape < 2) {
      index = binary(Op::Remainder, cast(std::move(index), Type::UInt), number(most, Type::UInt));
    } else if (shape < 5) {
      // if (0 <= index && index < most)
      NodePtr declared = make(Op::Declare, type);
      declared->operands.push_back(std::move(index));
      declared->index = kernel_.variables_++;
      const auto variable = [&] {
        NodePtr use = make(Op::Variable, type);
        use->index = declared->index;
        return use;
      };
      guard = make(Op::If);
      guard->operands.push_back(make(Op::Both));
      guard->operands[0]->operands.push_back(binary(Op::LessEqual, number(0, type), variable()));
      guard->operands[0]->operands.push_back(binary(Op::Less, variable(), number(most, type)));
      node->operands.push_back(variable());
      if (writes) node->operands.push_back(leaf(Type::Int));
      guard->body.push_back(std::move(node));
      // A block with both: the condition that always holds keeps it one statement.
      NodePtr both = make(Op::If);
      both->operands.push_back(binary(Op::Equal, number(0, Type::Int), number(0, Type::Int)));
      both->body.push_back(std::move(declared));
      both->body.push_back(std::move(guard));
      return both;
    }
    node->operands.push_back(std::move(index));
    if (writes) node->operands.push_back(leaf(Type::Int));
    return node;
  }

  /// id × number + number, and the like.
  NodePtr linear(Type type) {
    const auto id = [&](unsigned dimension) {
      NodePtr node = make(Op::Query, type);
      node->index = dimension;
      return node;
    };
    NodePtr sum = id(static_cast<unsigned>(random_.below(2)));
    if (random_.percent(30)) sum = binary(Op::Multiply, std::move(sum), number(random_.between(1, 5), type));
    if (random_.percent(40)) {
      const unsigned other = 1 - sum->index % 2;
      NodePtr factor = random_.percent(50) ? number(random_.of(std::array{4, 8, 16, 32}), type) : leaf(type);
      sum = binary(Op::Add, std::move(sum), binary(Op::Multiply, id(other), std::move(factor)));
    }
    if (random_.percent(30) && !variables_.empty()) {
      const Variable& variable = random_.of(variables_);
      NodePtr use = make(Op::Variable, variable.type);
      use->index = variable.index;
      sum = binary(Op::Add, std::move(sum), cast(std::move(use), type));
    }
    if (random_.percent(50)) sum = binary(Op::Add, std::move(sum), number(random_.between(0, 20), type));
    if (random_.percent(10))
      sum = binary(Op::Subtract, number(random_.between(20, 200), type), std::move(sum));
    return sum;
  }

  /// j = 0; for (i = first; i != bound; i += step) { if (limit <= j) break; … ++j; }, which may pass the
  /// bound, or the end of its type. The access depends on i or j.
  NodePtr passing_loop() {
    const bool wide = random_.percent(30);
    const Type type = wide ? Type::UInt : this->type();
    NodePtr node = make(Op::For, type);
    node->index = kernel_.variables_++;
    NodePtr count = make(Op::Declare, Type::Int);
    count->index = kernel_.variables_++;
    count->operands.push_back(number(0, Type::Int));
    const auto variable = [](const Node& declared) {
      NodePtr use = make(Op::Variable, declared.type);
      use->index = declared.index;
      return use;
    };
    NodePtr bound = wide ? number(3'000'000'000 + random_.between(0, 1'290'000'000), type)
                         : number(random_.between(0, 12), type);
    const auto kind = wide ? 1 : random_.below(4);
    node->operands.push_back(random_.percent(70) ? number(random_.between(0, 12), type) : leaf(type));
    node->operands.push_back(
        kind == 0 ? binary(Op::Less, std::move(bound), variable(*node))
                  : binary(kind == 1 ? Op::Less : Op::Different, variable(*node), std::move(bound)));
    node->operands.push_back(
        binary(Op::Add, variable(*node),
               number(wide ? random_.between(1'000'000'000, 4'000'000'000) : random_.between(1, 3), type)));
    NodePtr leave = make(Op::If);
    leave->operands.push_back(
        binary(Op::LessEqual, number(random_.between(3, 30), Type::Int), variable(*count)));
    leave->body.push_back(make(Op::Break));
    node->body.push_back(std::move(leave));
    NodePtr store = make(Op::StoreTo);
    store->index = written_buffer();
    store->value = static_cast<std::int64_t>(random_.below(3));
    const Node& used = wide || random_.percent(50) ? *count : *node;
    NodePtr id = make(Op::Query, used.type);
    id->index = static_cast<unsigned>(random_.below(2));
    store->operands.push_back(
        binary(Op::Add, variable(used),
               binary(Op::Multiply, std::move(id), number(random_.between(1, 16), used.type))));
    store->operands.push_back(leaf(Type::Int));
    node->body.push_back(std::move(store));
    NodePtr next = make(Op::Assign, Type::Int);
    next->index = count->index;
    next->operands.push_back(binary(Op::Add, variable(*count), number(1, Type::Int)));
    node->body.push_back(std::move(next));
    // A condition that always holds keeps both one statement.
    NodePtr both = make(Op::If);
    both->operands.push_back(binary(Op::Equal, number(0, Type::Int), number(0, Type::Int)));
    both->body.push_back(std::move(count));
    both->body.push_back(std::move(node));
    return both;
  }

  NodePtr loop(unsigned depth) {
    if (random_.percent(15)) return passing_loop();
    const Type type = this->type();
    NodePtr node = make(random_.percent(75) ? Op::For : Op::DoWhile, type);
    node->index = kernel_.variables_++;
    const bool down = random_.percent(25);
    NodePtr first = random_.percent(60) ? number(random_.between(0, 4), type) : expression(type, 1);
    NodePtr bound = random_.percent(50) ? number(random_.between(1, 20), type) : leaf(type);
    if (down) std::swap(first, bound);
    const auto use = [&] {
      NodePtr variable = make(Op::Variable, type);
      variable->index = node->index;
      return variable;
    };
    const Op compare = random_.of(std::array{Op::Less, Op::Less, Op::Less, Op::LessEqual, Op::Different});
    NodePtr step = random_.percent(60) || compare == Op::Different ? number(1, type)
                   : random_.percent(70)                           ? number(random_.between(1, 5), type)
                                                                   : leaf(type);
    if (type == Type::UInt && random_.percent(30)) {
      // Passes the end of its type.
      bound = number(4'000'000'000 + random_.between(0, 290'000'000), type);
      step = number(random_.between(1'000'000'000, 4'000'000'000), type);
    }
    node->operands.push_back(std::move(first));
    node->operands.push_back(down && compare != Op::Different ? binary(compare, std::move(bound), use())
                                                              : binary(compare, use(), std::move(bound)));
    node->operands.push_back(binary(down ? Op::Subtract : Op::Add, use(), std::move(step)));
    const std::size_t outer = variables_.size();
    variables_.push_back({node->index, type, true});
    ++loops_;
    statements(node->body, random_.between(1, 2), depth + 1);
    --loops_;
    node->body.push_back(access_of_any_kind(random_.percent(40)));
    variables_.resize(outer);
    return node;
  }

  void statements(std::vector<NodePtr>& to, std::int64_t count, unsigned depth) {
    for (std::int64_t i = 0; i < count; ++i) {
      switch (random_.below(depth < 2 ? 9 : 5)) {
        case 0: {
          std::vector<Variable> open;
          std::copy_if(variables_.begin(), variables_.end(), std::back_inserter(open),
                       [](const Variable& each) { return !each.fixed; });
          if (open.empty()) break;
          const Variable variable = random_.of(open);
          NodePtr node = make(Op::Assign, variable.type);
          node->index = variable.index;
          if (depth > 0 && random_.percent(70)) {
            // In a loop, it grows with each iteration.
            NodePtr use = make(Op::Variable, variable.type);
            use->index = variable.index;
            node->operands.push_back(binary(random_.percent(80) ? Op::Add : Op::Subtract, std::move(use),
                                            number(random_.between(1, 9), variable.type)));
          } else {
            node->operands.push_back(expression(variable.type, 2));
          }
          to.push_back(std::move(node));
          break;
        }
        case 1:
        case 2:
          to.push_back(access_of_any_kind(false));
          break;
        case 3:
          to.push_back(random_.percent(25) ? walk() : access_of_any_kind(true));
          break;
        case 4:
          if (depth == 0 && !returns_ && random_.percent(40)) {
            to.push_back(make(Op::Barrier));
            kernel_.uses_groups_ = true;
          }
          break;
        case 5:
        case 6: {
          NodePtr node = make(Op::If);
          node->operands.push_back(condition());
          statements(node->body, random_.between(1, 2), depth + 1);
          if (loops_ > 0 && random_.percent(50))
            node->body.push_back(make(random_.percent(75) ? Op::Break : Op::Continue));
          if (random_.percent(30)) statements(node->other, 1, depth + 1);
          to.push_back(std::move(node));
          break;
        }
        default:
          to.push_back(loop(depth));
      }
    }
  }

  RandomKernel& kernel_;
  Random& random_;
  bool groups_ = false;
  bool whole_ = false;
  bool returns_ = false;
  bool changes_ = false;     ///< whether there are atomic operations, mostly
  unsigned changed_ = 0;     ///< on this buffer
  std::int64_t change_ = 0;  ///< of this kind
  Type change_type_ = Type::Int;
  bool only_changes_ = false;  ///< and only these
  unsigned loops_ = 0;         ///< around what is generated
  std::vector<Variable> variables_;
};
RandomKernel::RandomKernel(std::string name, Random& random) : name_(std::move(name)) {
  Generator(*this, random).generate();
}
RandomKernel::~RandomKernel() = default;
RandomKernel::RandomKernel(RandomKernel&&) noexcept = default;
}  // namespace clique::test::division
