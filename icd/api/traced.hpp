// Entry points that record that they are called. Without CLIQUE_TRACE nobody calls them, so that tracing
// costs nothing then: the dispatch table and the look-up by name have the entry points themselves.
#pragma once

#include <CL/cl.h>

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include "icd/api/boundary.hpp"
#include "icd/core/objects/memory.hpp"
#include "icd/trace/names.hpp"
#include "icd/trace/trace.hpp"

namespace clique::icd::api {

/// The name of an entry point, as a template argument.
template <std::size_t kSize>
struct EntryName {
  consteval EntryName(const char (&name)[kSize]) { std::copy_n(name, kSize, text); }
  char text[kSize];
};

template <auto kFunction, EntryName kName>
struct Traced;

/// An entry point with a slice around it, which names the status of a call that fails, and the id of a memory
/// object that is created.
template <typename Result, typename... Arguments, Result(CL_API_CALL* kFunction)(Arguments...),
          EntryName kName>
struct Traced<kFunction, kName> {
  static Result CL_API_CALL call(Arguments... arguments) {
    trace::Call call(kName.text);
    if constexpr (std::is_void_v<Result>) {
      kFunction(arguments...);
    } else {
      const Result result = kFunction(arguments...);
      if constexpr (std::is_same_v<Result, cl_int>) {
        if (result != CL_SUCCESS) call.say(trace::kStatus, status_name(result));
      } else if constexpr (std::is_same_v<Result, cl_mem>) {
        if (result != nullptr) call.say(trace::kObject, static_cast<Memory*>(result)->id());
      }
      return result;
    }
  }
};

/// The function that applications get for an entry point.
template <bool kTraced, auto kFunction, EntryName kName>
constexpr auto entry_point() {
  if constexpr (kTraced)
    return &Traced<kFunction, kName>::call;
  else
    return kFunction;
}

}  // namespace clique::icd::api
