// The templates of window.hpp.
#pragma once

#include <optional>
#include <utility>

#include "coll/engine/party.hpp"
#include "mpi/comm/survival.hpp"
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

/// `lost` returns what ends the wait early, in a run whose clusters may fail.
template <class Done, class Lost>
void wait_for(GridWindow& window, const char* function, Done&& done, Lost&& lost) {
  const auto describe = [&](WaitingFor& wait) {
    wait.call = function;
    wait.comm = window.handle;
  };
  std::optional<Loss> loss;
  wait_until(
      [&] {
        if (with_part(window, done)) return true;
        if (may_lose()) loss = lost();
        return loss.has_value();
      },
      Describe(describe));
  if (loss) throw MpiError(loss->error_class, loss->because);
}

template <class Done>
void wait_for(GridWindow& window, const char* function, Done&& done) {
  wait_for(window, function, done, [&] { return loss_of_all(*window.comm); });
}

template <class Done>
void wait_for_each(GridWindow& window, const char* function, const std::vector<int>& ranks,
                   Done&& done) {
  KnownWhence known;
  const auto lost = [&]() -> std::optional<Loss> {
    for (const int rank : ranks) {
      if (auto loss = loss_of(*window.comm, rank)) return loss;
    }
    return std::nullopt;
  };
  const auto all_done = [&](const rma::Window& part) {
    bool all = true;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      if (done(part, i)) continue;
      if (!known.wanted()) return false;
      known.is(is_far(window, ranks[i]) ? Whence::Far : Whence::Near);
      all = false;
      if (is_far(window, ranks[i])) break;
    }
    return all;
  };
  wait_for(window, function, all_done, lost);
}

}  // namespace isthmus::face
