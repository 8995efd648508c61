// A fake libnvrtc. Its programs are already PTX: the result is a comment with the options, followed by the
// headers, each after a comment with its name, and the source. If the source begins with "fail", "crash" or
// "hang", compiling it does that; if it begins with "// warn", there is a warning. The version is
// $FAKE_NVRTC_VERSION (13.0 by default), and the architectures are 75, 90 and 100.
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string>

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

struct Program {
  std::string source, headers, ptx, log;
};

void copied(const std::string& text, char* to) {
  std::memcpy(to, text.c_str(), text.size() + 1);
}

constexpr int kArchitectures[] = {75, 90, 100};

}  // namespace

EXPORT int nvrtcVersion(int* major, int* minor) {
  const char* const wanted = std::getenv("FAKE_NVRTC_VERSION");
  *major = wanted != nullptr ? std::atoi(wanted) : 13;
  *minor = 0;
  return 0;
}
EXPORT const char* nvrtcGetErrorString(int result) {
  return result == 6 ? "NVRTC_ERROR_COMPILATION" : "NVRTC_ERROR_OF_THE_FAKE";
}
EXPORT int nvrtcGetNumSupportedArchs(int* count) {
  *count = std::size(kArchitectures);
  return 0;
}
EXPORT int nvrtcGetSupportedArchs(int* list) {
  std::memcpy(list, kArchitectures, sizeof kArchitectures);
  return 0;
}
EXPORT int nvrtcCreateProgram(Program** program, const char* source, const char* name, int headers,
                              const char* const* texts, const char* const* names) {
  if (std::string(name) != "program.cu") return 3;
  *program = new Program{source, {}, {}, {}};
  for (int i = 0; i < headers; ++i)
    (*program)->headers += "// header " + std::string(names[i]) + ": " + texts[i];
  return 0;
}
EXPORT int nvrtcDestroyProgram(Program** program) {
  delete *program;
  *program = nullptr;
  return 0;
}
EXPORT int nvrtcCompileProgram(Program* program, int count, const char* const* options) {
  program->ptx = "// options:";
  for (int i = 0; i < count; ++i) program->ptx += std::string(" ") + options[i];
  program->ptx += "\n" + program->headers + program->source;
  const auto begins = [program](const char* word) { return program->source.starts_with(word); };
  if (begins("crash")) std::abort();
  if (begins("hang")) ::pause();
  if (begins("// warn")) program->log = "program.cu(1): warning #1-D: what the source asks for\n";
  if (!begins("fail")) return 0;
  program->log = "program.cu(1): error: what the source asks for";
  return 6;
}
EXPORT int nvrtcGetPTXSize(Program* program, std::size_t* size) {
  *size = program->ptx.size() + 1;
  return 0;
}
EXPORT int nvrtcGetPTX(Program* program, char* ptx) {
  copied(program->ptx, ptx);
  return 0;
}
EXPORT int nvrtcGetProgramLogSize(Program* program, std::size_t* size) {
  *size = program->log.size() + 1;
  return 0;
}
EXPORT int nvrtcGetProgramLog(Program* program, char* log) {
  copied(program->log, log);
  return 0;
}
