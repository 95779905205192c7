#include "mpi/file/gathered_write.hpp"

#include <algorithm>
#include <utility>

#include "mpi/coll/collective.hpp"
#include "mpi/file/file_info.hpp"
#include "mpi/file/grid_file.hpp"
#include "mpi/making/agreement.hpp"
#include "mpi/process/file_worker.hpp"
#include "mpi/request/progress.hpp"

namespace isthmus::face {
namespace {

// Every member keeps the maps of all: views of more distinct blocks are not gathered.
constexpr std::uint64_t kMostMap = 64 * 1024, kMostMaps = 4 * 1024 * 1024;
constexpr std::size_t kMostAggregators = 16;

/// At most the allowed number of the members that can, spread evenly.
std::vector<int> aggregators_of(const std::vector<GatherTerms>& all) {
  std::vector<int> able, chosen;
  for (std::size_t r = 0; r < all.size(); ++r) {
    if (all[r].aggregates) able.push_back(static_cast<int>(r));
  }
  const std::size_t wanted = std::min(able.size(), kMostAggregators);
  for (std::size_t i = 0; i < wanted; ++i) chosen.push_back(able[i * able.size() / wanted]);
  return chosen;
}

/// A piece of the worker's work.
class Worked final : public coll::Operation {
 public:
  explicit Worked(std::function<void()> work) : job_(do_later(std::move(work))) {}
  bool poll() override {
    if (!job_->done()) return false;
    job_->check();
    return true;
  }

 private:
  JobRef job_;
};

coll::Pending work_later(std::function<void()> work) {
  return coll::Pending(std::make_unique<Worked>(std::move(work)));
}

GatherMeans means_of(const GridFile& file) {
  GatherMeans means{.work = work_later, .settle = {}, .storage = file.file->storage()};
  if (!file.near) means.settle = [&file] { file.file->settle(); };
  return means;
}

}  // namespace

/// In its place among what the processes do together on their file.
class GatheredWrite final : public Collective {
 public:
  GatheredWrite(const std::shared_ptr<GridFile>& file, GatheringRef gathering, const char* function,
                std::int64_t position, KeptBytes data, std::function<void()> otherwise)
      : Collective(file->members, function),
        file_(file),
        gathering_(std::move(gathering)),
        data_(std::move(data)),
        otherwise_(std::move(otherwise)),
        steps_(*gathering_, file->rank, position, data_.bytes, means_of(*file)) {}
  ~GatheredWrite() override {
    outcome_->in_vain_ = result.error == MPI_SUCCESS && !steps_.gathered();
    outcome_->failure_ = steps_.failure();
    outcome_->code_ = result.error;
    outcome_->ended_.store(true, std::memory_order_release);
  }
  GatherOutcomeRef outcome() const { return outcome_; }

 private:
  coll::Task start(coll::Party& party) override { return steps_.run(party); }
  void finish() override {
    if (otherwise_ && !steps_.gathered()) otherwise_();
  }

  const std::shared_ptr<GridFile> file_;
  const GatheringRef gathering_;
  const KeptBytes data_;
  const std::function<void()> otherwise_;
  GatherSteps steps_;
  const std::shared_ptr<GatherOutcome> outcome_ = std::make_shared<GatherOutcome>();
};

bool refuses_gathering(MPI_Info info) {
  return hint_of(info, kGatherHint) == "false" || hint_of(info, "romio_cb_write") == "disable";
}

GatherTerms gather_terms(const GridFile& file, const file::View& view, MPI_Info info) {
  GatherTerms terms{.displacement = view.displacement,
                    .piece = file::typical_piece(view),
                    .map_bytes = 0,
                    .aggregates = file.near && file.file->storage() != nullptr &&
                                  grid()->world().clusters[grid()->cluster].name == file.home};
  if (file.refuses_gathering || refuses_gathering(info) || !view.ascends()) return terms;
  std::vector<std::byte> map;
  view.filetype.encode(map);
  if (map.size() <= kMostMap) terms.map_bytes = map.size();
  return terms;
}

GatheringRef agree_on_gathering(const GridFile& file, const file::View& view,
                                const std::vector<GatherTerms>& all) {
  if (!file.members || !file.members->runs.empty()) return nullptr;
  auto made = std::make_shared<Gathering>();
  made->aggregators = aggregators_of(all);
  std::uint64_t total = 0;
  bool small = false;
  for (const GatherTerms& each : all) {
    if (each.map_bytes == 0) return nullptr;
    small = small || (each.piece > 0 && each.piece <= file::kSmallPiece);
    total += each.map_bytes;
    made->pieces.push_back(each.piece);
  }
  if (!small || total > kMostMaps || made->aggregators.empty()) return nullptr;
  std::vector<ViewTerms> told;
  std::optional<std::vector<file::View>> views;
  told.reserve(all.size());
  for (const GatherTerms& each : all) told.push_back({each.displacement, each.map_bytes});
  agree(
      file.members, [&](coll::Party& party) { return tell_views(party, view, told, views); },
      Purpose{.what = "agreement on gathered writes",
              .failed = "the processes could not tell each other the filetypes of their views"});
  if (!views) throw MpiError(MPI_ERR_OTHER, "another process's view cannot be read");
  made->views = std::move(*views);
  return made;
}

GatherOutcomeRef write_gathered(const std::shared_ptr<GridFile>& file,
                                const GatheringRef& gathering, const char* function,
                                std::int64_t position, KeptBytes data, bool at_once,
                                std::function<void()> otherwise) {
  auto write = std::make_unique<GatheredWrite>(file, gathering, function, position, std::move(data),
                                               std::move(otherwise));
  GatherOutcomeRef outcome = write->outcome();
  const auto has_ended = [&write] {
    const core::Lock lock(progress_mutex);
    return write->advance();
  };
  if (!at_once) {
    wait_until(has_ended);
  } else if (!has_ended()) {
    keep(std::move(write));
  }
  return outcome;
}

}  // namespace isthmus::face
