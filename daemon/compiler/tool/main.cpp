// clique-compiler: compiles OpenCL C, SPIR-V and CUDA C++ to PTX, on the command line or for a worker, and
// builds the device library.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <iostream>

#include "daemon/compiler/contract/language_features.hpp"
#include "daemon/compiler/contract/message_io.hpp"
#include "daemon/compiler/contract/spirv.hpp"
#include "daemon/compiler/tool/common/target.hpp"
#include "daemon/compiler/tool/compile.hpp"
#include "daemon/compiler/tool/footprints/footprint_text.hpp"
#include "daemon/compiler/tool/linking/device_library.hpp"
#include "daemon/compiler/tool/metadata_json.hpp"
#include "daemon/compiler/tool/packing/build_library.hpp"
#include "daemon/compiler/tool/serve.hpp"

namespace {

using namespace clique::daemon::compiler;

struct Arguments {
  std::string architecture = "sm_90";
  std::string emit = "ptx";
  std::string output;
  std::string library_path;
  std::string fallback;
  std::vector<std::string> files;
  std::string build_options;
  std::vector<std::string> llvm_settings;
  bool object = false;
  bool link = false;
  bool library = false;
  bool pack = false;
  bool serve = false;
  int control_fd = -1;
  unsigned optimisation_time = 20'000;
};

void write(const std::string& path, std::span<const std::uint8_t> bytes) {
  if (path.empty() || path == "-") {
    std::fwrite(bytes.data(), 1, bytes.size(), stdout);
    return;
  }
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!file.flush()) throw std::runtime_error("cannot write " + path);
}

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(std::istreambuf_iterator<char>(file), {});
  if (!file) throw std::runtime_error("cannot read " + path);
  return text;
}

bool is_spirv(std::string_view file) {
  return clique::daemon::compiler::is_spirv(
      {reinterpret_cast<const std::uint8_t*>(file.data()), file.size()});
}

/// The request that the arguments describe: sources and SPIR-V are compiled (--compile) or built, binaries
/// are linked (--link).
Request request_of(const Arguments& arguments) {
  Request request;
  request.architecture = arguments.architecture;
  request.options = arguments.build_options;
  request.extensions = language_extensions();
  if (arguments.link) {
    request.kind = Request::Kind::Link;
    for (const std::string& path : arguments.files) {
      const std::string bytes = read(path);
      request.inputs.emplace_back(bytes.begin(), bytes.end());
    }
    return request;
  }
  request.kind = arguments.object ? Request::Kind::Compile : Request::Kind::Build;
  if (arguments.emit == "footprints") request.kind = Request::Kind::Analyse;
  for (const std::string& path : arguments.files) {
    const std::string text = read(path);
    if (is_spirv(text)) {
      if (arguments.files.size() > 1)
        throw std::runtime_error(path + " is SPIR-V, which has to be the only file");
      request.il.assign(text.begin(), text.end());
    } else {
      // Makes messages name the file.
      request.source.append("#line 1 \"").append(path).append("\"\n").append(text);
    }
  }
  return request;
}

int compile_files(const Arguments& arguments) {
  const DeviceLibrary library(arguments.library_path);
  std::string optimised;
  Settings settings;
  if (arguments.emit == "llvm") settings.optimised = &optimised;
  settings.reads_disk = true;
  settings.optimisation_time = std::chrono::milliseconds(arguments.optimisation_time);
  const Result result = compile(request_of(arguments), library, settings);
  std::cerr << result.log;
  if (result.status != 0) return 1;
  const auto write_text = [&](const std::string& text) {
    write(arguments.output, {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  };
  if (arguments.emit == "footprints") {
    const auto analysis = decode<Analysis>(result.binary);
    for (const auto& footprint : analysis.footprints) write_text(footprint_text(footprint));
    return 0;
  }
  const ProgramBinary binary = parse_program_binary(result.binary);
  if (arguments.emit == "binary") {
    write(arguments.output, result.binary);
  } else if (arguments.emit == "metadata") {
    write_text(metadata_json(binary));
  } else if (arguments.emit == "llvm") {
    write_text(optimised);
  } else {
    write(arguments.output, binary.code);
  }
  return 0;
}

int run(const Arguments& arguments) {
  initialise_target(arguments.llvm_settings);
  if (arguments.serve) {
    serve(arguments.control_fd, arguments.library_path);
    return 0;
  }
  if (arguments.files.empty()) throw std::runtime_error("no file to compile; see clique-compiler --help");
  if (arguments.library) {
    write(arguments.output, compile_library_source(arguments.files.at(0), arguments.build_options));
    return 0;
  }
  if (arguments.pack) {
    write(arguments.output, pack_library(arguments.files, arguments.fallback));
    return 0;
  }
  return compile_files(arguments);
}

/// Removes the words after `--` from the command line and returns them as build options of OpenCL.
std::string take_build_options(int& count, char** words) {
  std::string options;
  for (int i = 1; i < count; ++i) {
    if (std::string_view(words[i]) != "--") continue;
    for (int option = i + 1; option < count; ++option) {
      options += '"';
      for (const char* c = words[option]; *c != 0; ++c) {
        if (*c == '"' || *c == '\\') options += '\\';
        options += *c;
      }
      options += "\" ";
    }
    count = i;
  }
  return options;
}

}  // namespace

int main(int count, char** words) {
  Arguments arguments;
  arguments.build_options = take_build_options(count, words);
  CLI::App app("Compiles OpenCL C and SPIR-V for NVIDIA GPUs.\nBuild options of OpenCL follow after --.");
  app.set_version_flag("--version", "clique-compiler " CLIQUE_VERSION, "print the release and exit");
  app.add_option("file", arguments.files, "source or SPIR-V to compile; with --link: program binaries")
      ->check(CLI::ExistingFile);
  app.add_option("--arch", arguments.architecture, "GPU architecture to compile for")->capture_default_str();
  app.add_option("-o,--output", arguments.output, "file for the result; default: standard output");
  app.add_option("--emit", arguments.emit, "form of the result")
      ->check(CLI::IsMember({"ptx", "llvm", "binary", "metadata", "footprints"}))
      ->capture_default_str();
  app.add_option("--optimisation-time", arguments.optimisation_time,
                 "processor time after which optional optimisations are left out, in ms")
      ->capture_default_str();
  app.add_flag("-c,--compile", arguments.object, "compile only, as clCompileProgram does");
  app.add_flag("--link", arguments.link,
               "link files that --compile --emit binary wrote, as clLinkProgram does");
  app.add_option("--library-path", arguments.library_path,
                 "device library; default: device-library.pack beside this program");
  app.add_flag("--library", arguments.library, "compile one source of the device library to bitcode");
  app.add_flag("--pack", arguments.pack, "make the device library from compiled sources");
  app.add_option("--fallback", arguments.fallback,
                 "with --pack: bitcode file for functions that the others do not define")
      ->check(CLI::ExistingFile);
  app.add_option("--llvm", arguments.llvm_settings, "setting of LLVM, for experiments: --llvm=-NAME=VALUE");
  app.add_flag("--serve", arguments.serve, "answer the requests of a worker");
  app.add_option("--control-fd", arguments.control_fd, "with --serve: file descriptor of the connection");
  CLI11_PARSE(app, count, words);
  try {
    return run(arguments);
  } catch (const InvalidOptions& error) {
    std::cerr << error.what();
  } catch (const std::exception& error) {
    std::cerr << "clique-compiler: " << error.what() << '\n';
  }
  return 1;
}
