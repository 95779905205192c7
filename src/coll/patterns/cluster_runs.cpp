#include "coll/patterns/cluster_runs.hpp"

#include <algorithm>

namespace isthmus::coll {

std::vector<ClusterRun> runs_of(std::vector<int> clusters, bool loose) {
  std::ranges::sort(clusters);
  std::vector<ClusterRun> runs;
  for (const int c : clusters) {
    if (!runs.empty() && (loose || runs.back().last + 1 == c)) {
      runs.back().last = c;
    } else {
      runs.push_back({c, c});
    }
  }
  return runs;
}

ClusterRuns::ClusterRuns(Reduction& reduction, std::size_t count, bool loose)
    : reduction_(reduction), count_(count), size_(reduction.packed_size(count)), loose_(loose) {}

Bytes ClusterRuns::expect(std::vector<int> clusters) {
  const auto runs = runs_of(std::move(clusters), loose_);
  Buffer& memory = memory_.emplace_back(runs.size() * size_);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    pieces_.push_back({runs[i], memory.part(i * size_, size_)});
  }
  return memory.bytes();
}

Bytes ClusterRuns::combine() {
  std::ranges::sort(pieces_, {}, [](const Piece& piece) { return piece.run.first; });
  std::vector<Piece> runs;  // the last first
  for (std::size_t i = pieces_.size(); i-- > 0;) {
    const Piece& piece = pieces_[i];
    if (!runs.empty() && (loose_ || piece.run.last + 1 == runs.back().run.first)) {
      reduction_.combine(piece.vector, runs.back().vector, count_);
      runs.back().run.first = piece.run.first;
    } else {
      runs.push_back(piece);
    }
  }
  if (runs.size() == 1) return runs.front().vector;
  Buffer& all = memory_.emplace_back(runs.size() * size_);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    copy(runs[runs.size() - 1 - i].vector, all.part(i * size_, size_));
  }
  return all.bytes();
}

}  // namespace isthmus::coll
