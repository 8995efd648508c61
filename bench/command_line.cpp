#include "command_line.hpp"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <exception>

namespace bench {

struct CommandLine::Parser {
  CLI::App app;
};

CommandLine::CommandLine(const char* description) : parser_(new Parser{CLI::App(description)}) {}
CommandLine::~CommandLine() = default;

template <typename T>
void CommandLine::option(const char* name, T& value, const char* help, std::optional<double> least) {
  CLI::Option* const option = parser_->app.add_option(name, value, help);
  if (value != T{}) option->capture_default_str();
  if (least)
    option->check([least = *least](const std::string& text) {
      return std::strtod(text.c_str(), nullptr) >= least
                 ? std::string()
                 : text + " is too small; at least " + CLI::detail::to_string(least);
    });
}

template <typename T>
void CommandLine::choice(const char* name, T& value, const char* help,
                         const std::vector<std::string>& allowed) {
  parser_->app.add_option(name, value, help)->check(CLI::IsMember(allowed));
}

template <typename T>
void CommandLine::bytes(const char* name, T& value, const char* help) {
  parser_->app.add_option(name, value, help)->transform(CLI::AsSizeValue(false));
}

void CommandLine::flag(const char* name, bool& value, const char* help) {
  parser_->app.add_flag(name, value, help);
}

int CommandLine::run(int argc, char** argv, const std::function<void()>& body) {
  CLI11_PARSE(parser_->app, argc, argv);
  try {
    body();
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    return 1;
  }
}

template void CommandLine::option(const char*, int&, const char*, std::optional<double>);
template void CommandLine::option(const char*, unsigned&, const char*, std::optional<double>);
template void CommandLine::option(const char*, std::size_t&, const char*, std::optional<double>);
template void CommandLine::option(const char*, double&, const char*, std::optional<double>);
template void CommandLine::option(const char*, std::string&, const char*, std::optional<double>);
template void CommandLine::option(const char*, std::vector<std::size_t>&, const char*, std::optional<double>);
template void CommandLine::choice(const char*, std::string&, const char*, const std::vector<std::string>&);
template void CommandLine::choice(const char*, std::vector<std::string>&, const char*,
                                  const std::vector<std::string>&);
template void CommandLine::bytes(const char*, std::size_t&, const char*);
template void CommandLine::bytes(const char*, std::vector<std::size_t>&, const char*);

}  // namespace bench
