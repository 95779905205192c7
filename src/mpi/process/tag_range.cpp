#include "mpi/process/tag_range.hpp"

#include <stdexcept>
#include <string>
#include <utility>

#include "mpi/native/entry.hpp"
#include "mpi/process/grid.hpp"
#include "mpi/process/traffic.hpp"

namespace isthmus::face {
namespace {

int native_tag_upper_bound() {
  const Inside inside;
  int* value = nullptr;
  int found = 0;
  const int code = native.Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &found);
  const int bound = code == MPI_SUCCESS && found != 0 ? *value : traffic::kPromisedTags;
  if (bound >= traffic::kPromisedTags) return bound;
  throw std::runtime_error("the native MPI library's MPI_TAG_UB is " + std::to_string(bound) +
                           ", but MPI promises at least 32767: use another transport of it");
}

int checked(int clusters) {
  if (clusters <= traffic::kMostClusters) return clusters;
  throw std::runtime_error("the grid has " + std::to_string(clusters) + " clusters; at most " +
                           std::to_string(traffic::kMostClusters) + " are possible");
}

constexpr int kOfWorld = 0;

}  // namespace

TagRange TagRange::of_world() { return found(kOfWorld); }

TagRange TagRange::found(int number) {
  TagRange range;
  range.shadow_ = grid()->shadow->comm;
  range.number_ = number;
  range.first_ = number * grid()->shadow->range_size;
  return range;
}

TagRange TagRange::of_twin(int number) {
  TagRange range;
  range.shadow_ = grid()->shadow->comm;
  range.first_ = traffic::twin_tag(number, grid()->shadow->tag_upper_bound);
  range.spoilt_ = true;  // it was never one of the free ranges
  return range;
}

TagRange TagRange::on(MPI_Comm own_shadow) {
  TagRange range;
  range.shadow_ = own_shadow;
  range.own_ = true;
  return range;
}

TagRange& TagRange::operator=(TagRange&& other) noexcept {
  std::swap(shadow_, other.shadow_);
  std::swap(number_, other.number_);
  std::swap(first_, other.first_);
  std::swap(own_, other.own_);
  std::swap(spoilt_, other.spoilt_);
  return *this;
}

TagRange::~TagRange() {
  if (shadow_ == MPI_COMM_NULL || grid() == nullptr) return;  // MPI_Finalize frees what is left
  if (own_) {
    const Inside inside;
    native.Comm_free(&shadow_);
  } else if (!spoilt_) {
    grid()->shadow->free.give_back(number_);
  }
}

int TagRange::courier_tag(int program_tag) const {
  return traffic::courier_tag(number_, program_tag, grid()->shadow->tag_upper_bound);
}

Shadow::Shadow(int most_clusters, MPI_Comm all)
    : comm(all),
      tag_upper_bound(native_tag_upper_bound()),
      clusters(checked(most_clusters)),
      range_size(traffic::range_size(clusters)),
      free(traffic::ranges(tag_upper_bound, clusters)) {
  free.take_one(kOfWorld);
}

}  // namespace isthmus::face
