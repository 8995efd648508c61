#include "protocol/sources/macros.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "protocol/sources/cursor.hpp"

namespace clique::protocol {

namespace {
/// Definitions of one macro that count; the operands of #include have one or two.
constexpr std::size_t kMostDefinitions = 16;
/// Bytes of tokens that one expansion may make, so that no source keeps its reader busy.
constexpr std::size_t kMostBytes = 200'000;
constexpr std::size_t kMostNesting = 100;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
}  // namespace

Macros::Tokens Macros::tokens_of(std::string_view text) {
  Tokens tokens;
  bool space = false;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (is_blank(c)) {
      space = true;
      ++at;
      continue;
    }
    std::size_t end = at + 1;
    const bool identifier = is_identifier_character(c) && !is_digit(c);
    if (identifier) {
      while (end < text.size() && is_identifier_character(text[end])) ++end;
    } else if (is_digit(c)) {
      while (end < text.size() && (is_identifier_character(text[end]) || text[end] == '.')) ++end;
    } else if (c == '"' || c == '\'') {
      while (end < text.size() && text[end] != c) end += text[end] == '\\' ? 2 : 1;
      end = std::min(end + 1, text.size());
    } else if (text.substr(at).starts_with("##")) {
      end = at + 2;
    }
    tokens.push_back({std::string(text.substr(at, end - at)), identifier, std::exchange(space, false)});
    at = end;
  }
  return tokens;
}

std::string Macros::text_of(const Tokens& tokens) {
  std::string text;
  for (const Token& token : tokens) {
    if (token.after_space && !text.empty()) text += ' ';
    text += token.text;
  }
  return text;
}

void Macros::add(std::string_view definition, bool by_option) {
  Cursor cursor(definition);
  const std::string name = cursor.identifier();
  if (name.empty() || is_digit(name.front())) return;
  Definition made;
  if (cursor.peek() == '(') {
    made.with_parameters = true;
    std::string parameter;
    cursor.advance();
    for (; !cursor.at_end() && cursor.peek() != ')'; cursor.advance()) {
      if (cursor.peek() == ',') {
        made.parameters.push_back(std::exchange(parameter, {}));
      } else if (!is_blank(cursor.peek())) {
        parameter += cursor.peek();
      }
    }
    if (!parameter.empty() || !made.parameters.empty()) made.parameters.push_back(parameter);
    if (!made.parameters.empty() && made.parameters.back() == "...") made.parameters.back() = "__VA_ARGS__";
    cursor.advance();
  }
  std::string_view body = definition.substr(std::min(cursor.position(), definition.size()));
  if (by_option) body = body.starts_with('=') ? body.substr(1) : "1";
  made.body = tokens_of(body);
  auto& known = definitions_[name];
  const auto same = [&](const Definition& other) {
    return other.with_parameters == made.with_parameters && other.parameters == made.parameters &&
           text_of(other.body) == text_of(made.body);
  };
  if (known.size() < kMostDefinitions && std::none_of(known.begin(), known.end(), same))
    known.push_back(std::move(made));
}

void Macros::define(std::string_view definition) {
  add(definition, false);
}

void Macros::define_by_option(std::string_view definition) {
  add(definition, true);
}

/// One expansion, in which each macro has one definition.
class Macros::Expansion {
 public:
  /// @param choice which definition counts; of macros that have fewer, the last
  Expansion(const Macros& macros, std::size_t choice) : macros_(macros), choice_(choice) {}

  Tokens run(const Tokens& tokens) {
    if (++nesting_ > kMostNesting) exhausted_ = true;
    Tokens result;
    for (std::size_t at = 0; at < tokens.size() && !exhausted_; ++at) {
      const Token& token = tokens[at];
      use(token);
      const Definition* const definition = token.identifier ? definition_of(token.text) : nullptr;
      std::optional<std::vector<Tokens>> arguments;
      std::size_t last = at;
      if (definition != nullptr && definition->with_parameters) arguments = arguments_of(tokens, last);
      if (definition == nullptr || (definition->with_parameters && !arguments)) {
        result.push_back(token);
        continue;
      }
      Tokens body = substitute(*definition, arguments.value_or(std::vector<Tokens>()));
      hidden_.insert(token.text);
      body = run(body);
      hidden_.erase(token.text);
      if (!body.empty()) body.front().after_space = token.after_space;
      result.insert(result.end(), body.begin(), body.end());
      at = last;
    }
    --nesting_;
    return result;
  }
  bool exhausted() const { return exhausted_; }
  /// The largest number of definitions that a macro in use has.
  std::size_t choices() const { return choices_; }

 private:
  void use(const Token& token) {
    used_ += token.text.size() + 1;
    if (used_ > kMostBytes) exhausted_ = true;
  }

  const Definition* definition_of(const std::string& name) {
    const auto found = macros_.definitions_.find(name);
    if (found == macros_.definitions_.end() || hidden_.contains(name)) return nullptr;
    choices_ = std::max(choices_, found->second.size());
    return &found->second[std::min(choice_, found->second.size() - 1)];
  }

  /// The arguments in the parentheses behind tokens[at], and moves `at` to the last one of these tokens.
  static std::optional<std::vector<Tokens>> arguments_of(const Tokens& tokens, std::size_t& at) {
    if (at + 1 >= tokens.size() || tokens[at + 1].text != "(") return std::nullopt;
    std::vector<Tokens> arguments(1);
    int open = 1;
    for (std::size_t i = at + 2; i < tokens.size(); ++i) {
      const std::string& text = tokens[i].text;
      if (text == "(") ++open;
      if (text == ")" && --open == 0) {
        at = i;
        return arguments;
      }
      if (text == "," && open == 1) {
        arguments.emplace_back();
      } else {
        arguments.back().push_back(tokens[i]);
      }
    }
    return std::nullopt;
  }

  static Token stringized(const Tokens& tokens) {
    std::string text = "\"";
    for (const char c : text_of(tokens)) {
      if (c == '"') text += '\\';
      text += c;
    }
    return {.text = text + '"'};
  }

  Tokens substitute(const Definition& definition, const std::vector<Tokens>& arguments) {
    const auto argument = [&](const Token& token) -> const Tokens* {
      static const Tokens kNone;
      const auto& parameters = definition.parameters;
      const auto found = std::find(parameters.begin(), parameters.end(), token.text);
      if (!definition.with_parameters || found == parameters.end()) return nullptr;
      const auto index = static_cast<std::size_t>(found - parameters.begin());
      return index < arguments.size() ? &arguments[index] : &kNone;
    };
    Tokens result;
    const Tokens& body = definition.body;
    for (std::size_t i = 0; i < body.size() && !exhausted_; ++i) {
      const bool pasted =
          (i + 1 < body.size() && body[i + 1].text == "##") || (i > 0 && body[i - 1].text == "##");
      Tokens part{body[i]};
      if (body[i].text == "##") continue;
      if (body[i].text == "#" && i + 1 < body.size() && argument(body[i + 1]) != nullptr) {
        part = {stringized(*argument(body[++i]))};
      } else if (const Tokens* const given = argument(body[i])) {
        part = pasted ? *given : run(*given);
      }
      if (!part.empty()) part.front().after_space = body[i].after_space;
      if (i > 0 && body[i - 1].text == "##" && !result.empty() && !part.empty()) {
        result.back().text += part.front().text;
        use(result.back());
        part.erase(part.begin());
      }
      for (const Token& token : part) use(token);
      result.insert(result.end(), part.begin(), part.end());
    }
    return result;
  }

  const Macros& macros_;
  const std::size_t choice_;
  std::set<std::string> hidden_;
  std::size_t used_ = 0;  // bytes
  std::size_t nesting_ = 0;
  std::size_t choices_ = 1;
  bool exhausted_ = false;
};

std::vector<Include> Macros::expansions(const Include& computed) const {
  std::vector<Include> results;
  const Tokens operand = tokens_of(computed.name);
  std::size_t choices = 1;
  for (std::size_t choice = 0; choice < choices; ++choice) {
    Expansion expansion(*this, choice);
    const Tokens tokens = expansion.run(operand);
    choices = expansion.choices();
    if (expansion.exhausted() || tokens.empty()) continue;
    const std::string text = text_of(tokens);
    const char close = text.front() == '"' ? '"' : text.front() == '<' ? '>' : '\0';
    const std::size_t end = text.find(close, 1);
    if (close == '\0' || end == std::string::npos) continue;
    Include include = computed;
    include.form = close == '"' ? Include::Form::Quoted : Include::Form::Angled;
    include.name = text.substr(1, end - 1);
    const auto same = [&](const Include& other) {
      return other.form == include.form && other.name == include.name;
    };
    if (std::none_of(results.begin(), results.end(), same)) results.push_back(std::move(include));
  }
  return results;
}

}  // namespace clique::protocol
