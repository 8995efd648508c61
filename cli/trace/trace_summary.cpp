#include "cli/trace/trace_summary.hpp"

#include <protozero/exception.hpp>

#include "cli/common/commands.hpp"
#include "cli/output/print_json.hpp"
#include "cli/trace/packet_reader.hpp"
#include "cli/trace/trace_figures.hpp"
#include "cli/trace/trace_file.hpp"
#include "cli/trace/trace_report.hpp"

namespace clique::cli {

void print_trace_summary(const std::string& file, std::FILE* to, bool as_json) {
  trace_summary::TraceFile trace(file);
  trace_summary::Figures figures;
  trace_summary::PacketReader reader([&](const trace_summary::TraceSlice& slice) { figures.add(slice); });
  try {
    while (const auto packet = trace.next()) reader.take(protozero::data_view(*packet));
  } catch (const protozero::exception& error) {
    throw Failed(file + " is not a trace in Perfetto's format: " + error.what());
  }
  if (figures.empty())
    throw Failed(file +
                 " has no slices, since its program has not used Clique's devices; 'clinfo -l' shows whether "
                 "the platform is there");
  if (as_json) {
    auto document = trace_summary::json_of(figures);
    document["complete"] = !trace.cut_off();
    print_json(document, to);
    return;
  }
  trace_summary::print_figures(figures, to);
  if (trace.cut_off())
    std::fprintf(to, "\nThe trace ends in the middle: the program was killed, or the disk is full.\n");
}

}  // namespace clique::cli
