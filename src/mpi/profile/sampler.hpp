// Samples where the program's time goes. A thread of its own looks some 1000 times a second which
// call each of the program's threads is in, and whether that waits for another cluster. It never
// calls MPI.
#pragma once

#include <atomic>
#include <map>
#include <thread>

namespace isthmus::face::profile {

/// Seconds in MPI, and of those waiting for other clusters.
struct Times {
  double mpi = 0, wan = 0;
};

class Sampler {
 public:
  Sampler();
  /// Stops.
  ~Sampler() { stop(); }
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  void stop();
  // When it has stopped:
  const Times& all() const { return all_; }  ///< while any thread was there
  const std::map<unsigned, Times>& by_function() const { return by_function_; }

 private:
  void run();
  void look(double seconds);

  std::atomic<bool> ending_{false};
  Times all_;
  std::map<unsigned, Times> by_function_;
  std::thread thread_;
};

}  // namespace isthmus::face::profile
