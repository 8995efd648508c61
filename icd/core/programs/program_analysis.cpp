#include "icd/core/programs/program_analysis.hpp"

#include <algorithm>
#include <utility>

#include "icd/core/division/explain.hpp"
#include "icd/core/programs/included_files.hpp"
#include "icd/core/workers/ask.hpp"
#include "icd/core/workers/worker.hpp"
#include "icd/remote/link/link.hpp"

namespace clique::icd {

namespace {

/// The first line of a text.
std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

}  // namespace

std::shared_ptr<ProgramAnalysis> ProgramAnalysis::begin(Worker& worker, protocol::AnalyseProgram request,
                                                        const IncludedFiles& files) {
  std::shared_ptr<ProgramAnalysis> analysis(new ProgramAnalysis);
  request.files = post_files(worker.link(), worker.known_texts(), files);
  std::vector<std::pair<Worker*, protocol::AnalyseProgram>> requests;
  requests.emplace_back(&worker, std::move(request));
  analysis->replies_ = ask<protocol::ProgramAnalysed>(
      std::move(requests), [analysis](Replies<protocol::ProgramAnalysed>::Answers& answers) {
        auto& answer = answers.front();
        if (answer.reply) {
          analysis->failure_ = std::move(answer.reply->failure);
          analysis->footprints_ = std::move(answer.reply->footprints);
        } else {
          analysis->failure_ = answer.failure;
        }
        if (!analysis->failure_.empty())
          explain("the kernels of a program are not divided: " + first_line(analysis->failure_));
        analysis->known_.store(true, std::memory_order_release);
      });
  return analysis;
}

const protocol::Footprint* ProgramAnalysis::find(std::string_view kernel) const {
  const auto found = std::find_if(footprints_.begin(), footprints_.end(),
                                  [&](const protocol::Footprint& each) { return each.kernel == kernel; });
  return found == footprints_.end() ? nullptr : &*found;
}

}  // namespace clique::icd
