#include "daemon/compiler/tool/frontend/macro_checks.hpp"

#include <clang/Lex/Lexer.h>
#include <clang/Lex/MacroInfo.h>
#include <clang/Lex/PPCallbacks.h>
#include <clang/Lex/Preprocessor.h>

#include <memory>
#include <string_view>

namespace clique::daemon::compiler {

namespace {

/// Macros whose values do not depend on the compiler.
bool same_everywhere(llvm::StringRef name) {
  return name == "__LINE__" || name.starts_with("CL_VERSION_");
}

class Noter : public clang::PPCallbacks {
 public:
  Noter(clang::Preprocessor& preprocessor, const std::vector<std::string>& own, MacroChecks& checks)
      : preprocessor_(preprocessor), checks_(checks) {
    for (const std::string& option : own) {
      const std::string_view name = std::string_view(option).substr(2);
      own_.insert(std::string(name.substr(0, name.find_first_of("=("))));
    }
  }

  void MacroExpands(const clang::Token& name, const clang::MacroDefinition& /*definition*/,
                    clang::SourceRange range, const clang::MacroArgs* /*arguments*/) override {
    if (in_program(range.getBegin())) note(name.getIdentifierInfo());
  }
  void Defined(const clang::Token& name, const clang::MacroDefinition& /*definition*/,
               clang::SourceRange range) override {
    if (in_program(range.getBegin())) note(name.getIdentifierInfo());
  }
  void Ifdef(clang::SourceLocation at, const clang::Token& name,
             const clang::MacroDefinition& /*definition*/) override {
    if (in_program(at)) note(name.getIdentifierInfo());
  }
  void Ifndef(clang::SourceLocation at, const clang::Token& name,
              const clang::MacroDefinition& /*definition*/) override {
    if (in_program(at)) note(name.getIdentifierInfo());
  }
  void Elifdef(clang::SourceLocation at, const clang::Token& name,
               const clang::MacroDefinition& /*definition*/) override {
    if (in_program(at)) note(name.getIdentifierInfo());
  }
  void Elifndef(clang::SourceLocation at, const clang::Token& name,
                const clang::MacroDefinition& /*definition*/) override {
    if (in_program(at)) note(name.getIdentifierInfo());
  }
  void If(clang::SourceLocation at, clang::SourceRange condition, ConditionValueKind /*value*/) override {
    if (in_program(at)) note_names_in(condition);
  }
  void Elif(clang::SourceLocation at, clang::SourceRange condition, ConditionValueKind /*value*/,
            clang::SourceLocation /*opening*/) override {
    if (in_program(at)) note_names_in(condition);
  }

 private:
  /// Whether it is in the program's files, rather than in the compiler's headers and definitions.
  bool in_program(clang::SourceLocation at) const {
    const clang::SourceManager& sources = preprocessor_.getSourceManager();
    at = sources.getExpansionLoc(at);
    return !sources.isWrittenInBuiltinFile(at) && !sources.isWrittenInCommandLineFile(at) &&
           !sources.isInSystemHeader(at);
  }

  /// Names that are not defined are 0 in conditions, and nothing else reports them.
  void note_names_in(clang::SourceRange condition) {
    const clang::SourceManager& sources = preprocessor_.getSourceManager();
    const auto range = clang::CharSourceRange::getTokenRange(condition);
    const std::string text =
        clang::Lexer::getSourceText(range, sources, preprocessor_.getLangOpts()).str() + "\n";
    clang::Lexer lexer(clang::SourceLocation(), preprocessor_.getLangOpts(), text.data(), text.data(),
                       text.data() + text.size());
    clang::Token token;
    do {
      lexer.LexFromRawLexer(token);
      if (token.is(clang::tok::raw_identifier) && token.getRawIdentifier() != "defined")
        note(preprocessor_.getIdentifierInfo(token.getRawIdentifier()));
    } while (token.isNot(clang::tok::eof));
  }

  void note(const clang::IdentifierInfo* name) {
    if (name == nullptr) return;
    const std::string text = name->getName().str();
    if (own_.contains(text) || same_everywhere(text)) return;
    const clang::MacroInfo* macro = preprocessor_.getMacroInfo(name);
    if (macro == nullptr) {
      if (llvm::StringRef(text).starts_with("__has_")) checks_.unclear = text;
      // Unless the program has undefined it, which every compiler does.
      if (!name->hadMacroDefinition()) checks_.conditions.insert("!defined(" + text + ")");
      return;
    }
    const clang::SourceManager& sources = preprocessor_.getSourceManager();
    const clang::SourceLocation at = macro->getDefinitionLoc();
    if (!macro->isBuiltinMacro() && in_program(at)) return;
    std::string value;
    if (!macro->isBuiltinMacro() && macro->isObjectLike())
      for (const clang::Token& token : macro->tokens())
        value += clang::Lexer::getSpelling(token, sources, preprocessor_.getLangOpts()) + ' ';
    if (macro->isBuiltinMacro() || macro->isFunctionLike()) {
      // Those of the language, such as VECTOR_INITIALIZER and its constants, mean the same everywhere.
      if (macro->isBuiltinMacro()) checks_.unclear = text;
      return;
    }
    const bool number = macro->getNumTokens() == 1 && macro->tokens()[0].is(clang::tok::numeric_constant) &&
                        value.find('.') == std::string::npos;
    if (macro->getNumTokens() == 0) {
      checks_.conditions.insert("defined(" + text + ")");
    } else if (number && (text.starts_with("__") || text.starts_with("cl_"))) {
      checks_.conditions.insert("defined(" + text + ") && (" + text + ") == " + value);
    } else if (text.starts_with("__")) {
      checks_.unclear = text;
    }
    // All others are constants of the language, such as INT_MAX and CLK_LOCAL_MEM_FENCE.
  }

  clang::Preprocessor& preprocessor_;
  MacroChecks& checks_;
  std::set<std::string> own_;
};

}  // namespace

void note_macros(clang::Preprocessor& preprocessor, const std::vector<std::string>& own,
                 MacroChecks& checks) {
  preprocessor.addPPCallbacks(std::make_unique<Noter>(preprocessor, own, checks));
}

std::string source_of(const MacroChecks& checks) {
  std::string source;
  for (const std::string& condition : checks.conditions)
    source += "#if !(" + condition + ")\n#error differs: " + condition + "\n#endif\n";
  return source + "__kernel void clique_check(void) {}\n";
}

}  // namespace clique::daemon::compiler
