#include "fixture.hpp"

#include <stdexcept>

#include "daemon/compiler/contract/language_features.hpp"

namespace clique::daemon::compiler {

namespace {}

CompilerProcess& shared_compiler() {
  static CompilerProcess compiler(find_compiler(), Cache(""));
  return compiler;
}

Request build_request(std::string source, std::string options) {
  Request request;
  request.architecture = "sm_90";
  request.source = std::move(source);
  request.options = std::move(options);
  request.extensions = language_extensions();
  return request;
}

Result build(const std::string& source, const std::string& options) {
  return shared_compiler().run(build_request(source, options), kLimit);
}

ProgramBinary built(const std::string& source, const std::string& options, const std::string& architecture) {
  Request request = build_request(source, options);
  request.architecture = architecture;
  const Result result = shared_compiler().run(request, kLimit);
  if (result.status != 0) throw std::runtime_error("the program does not build:\n" + result.log);
  return parse_program_binary(result.binary);
}

std::string ptx_of(const ProgramBinary& binary) {
  return {binary.code.begin(), binary.code.end()};
}

const Kernel& kernel_named(const ProgramBinary& binary, std::string_view name) {
  for (const Kernel& kernel : binary.kernels)
    if (kernel.name == name) return kernel;
  throw std::runtime_error("the program has no kernel '" + std::string(name) + "'");
}

}  // namespace clique::daemon::compiler
