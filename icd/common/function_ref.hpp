// A reference to a callable object.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

namespace clique::icd {

template <typename Signature>
class FunctionRef;

/// Calls an object that the caller owns, without a copy and without an allocation. For parameters: the object
/// must live as long as the reference is used.
template <typename Result, typename... Arguments>
class FunctionRef<Result(Arguments...)> {
 public:
  template <typename F, typename = std::enable_if_t<!std::is_same_v<std::remove_cvref_t<F>, FunctionRef>>>
  FunctionRef(F&& function)
      : call_([](void* object, Arguments... arguments) -> Result {
          return (*static_cast<std::remove_reference_t<F>*>(object))(std::forward<Arguments>(arguments)...);
        }),
        object_(const_cast<void*>(static_cast<const void*>(std::addressof(function)))) {}

  Result operator()(Arguments... arguments) const {
    return call_(object_, std::forward<Arguments>(arguments)...);
  }

 private:
  Result (*call_)(void*, Arguments...);
  void* object_;
};

}  // namespace clique::icd
