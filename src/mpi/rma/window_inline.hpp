// The templates of window.hpp.
#pragma once

#include <utility>

#include "mpi/process/grid.hpp"
#include "mpi/process/shield.hpp"
#include "mpi/request/progress.hpp"
#include "mpi/request/whence.hpp"
#include "mpi/rma/window.hpp"

namespace isthmus::face {

template <class Body>
int shielded(const GridWindow& window, const char* function, Body&& body) noexcept {
  return shielded_with([&](int code) { return raise_on(window.native, code, function); }, function,
                       std::forward<Body>(body));
}

template <class F>
auto with_part(GridWindow& window, F&& f) {
  return grid()->endpoint->locked([&](core::Engine&) { return std::forward<F>(f)(*window.part); });
}

template <class Done>
void wait_for(GridWindow& window, const char* function, Done&& done) {
  const auto describe = [&](WaitingFor& wait) {
    wait.call = function;
    wait.comm = window.handle;
  };
  wait_until([&] { return with_part(window, done); }, Describe(describe));
}

template <class Done>
void wait_for_each(GridWindow& window, const char* function, const std::vector<int>& ranks,
                   Done&& done) {
  KnownWhence known;
  const auto all_done = [&](const rma::Window& part) {
    bool all = true;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      if (done(part, i) || part.failed(ranks[i])) continue;
      if (!known.wanted()) return false;
      known.is(is_far(window, ranks[i]) ? Whence::Far : Whence::Near);
      all = false;
      if (is_far(window, ranks[i])) break;
    }
    return all;
  };
  wait_for(window, function, all_done);
}

}  // namespace isthmus::face
