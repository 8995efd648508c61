#include "daemon/compiler/tool/metadata_json.hpp"

#include <array>
#include <nlohmann/json.hpp>

namespace clique::daemon::compiler {

namespace {

using Json = nlohmann::ordered_json;

/// The names of ArgKind's values, in order.
constexpr std::array kKinds{"value", "global", "constant", "local", "image", "sampler", "any", "dynamic"};
static_assert(kKinds.size() == static_cast<std::size_t>(ArgKind::Dynamic) + 1);

std::string hidden_name(std::uint8_t what) {
  constexpr std::array kNames{"id_offset",    "global_offset", "global_size",
                              "group_offset", "num_groups",    "enqueued_size"};
  if (what == static_cast<std::uint8_t>(Hidden::WorkDim)) return "work_dim";
  if (what == static_cast<std::uint8_t>(Hidden::PrintfBuffer)) return "printf_buffer";
  if (what == static_cast<std::uint8_t>(Hidden::AccessChecks)) return "access_checks";
  return std::string(kNames.at(what / 3U)) + "_" + "xyz"[what % 3];
}

Json json_of(const Arg& arg) {
  return {{"name", arg.description.name},
          {"type", arg.description.type},
          {"kind", kKinds.at(static_cast<std::size_t>(arg.kind))},
          {"offset", arg.offset},
          {"size", arg.size},
          {"alignment", arg.alignment},
          {"address", arg.description.address},
          {"access", arg.description.access},
          {"qualifier", arg.description.qualifier}};
}

Json json_of(const Kernel& kernel) {
  Json json{{"name", kernel.name},
            {"attributes", kernel.attributes},
            {"params_size", kernel.params_size},
            {"local_size", kernel.local_size},
            {"static_local_size", kernel.static_local_size},
            {"required_group", kernel.required_group},
            {"required_sub_group", kernel.required_sub_group},
            {"uniform_groups", kernel.uniform_groups},
            {"in_parts", kernel.in_parts},
            {"args", Json::array()},
            {"hidden", Json::array()}};
  for (const Arg& arg : kernel.args) json["args"].push_back(json_of(arg));
  for (const HiddenArg& hidden : kernel.hidden)
    json["hidden"].push_back({{"what", hidden_name(hidden.what)}, {"offset", hidden.offset}});
  return json;
}

}  // namespace

std::string metadata_json(const ProgramBinary& binary) {
  Json json{{"type", binary.type},       {"architecture", binary.architecture},
            {"options", binary.options}, {"global_variables", binary.global_variables},
            {"formats", binary.formats}, {"strings", binary.strings},
            {"kernels", Json::array()}};
  for (const Kernel& kernel : binary.kernels) json["kernels"].push_back(json_of(kernel));
  // Strings of programs may be in any encoding; invalid UTF-8 is replaced.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace clique::daemon::compiler
