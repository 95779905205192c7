#include "mpi/file/transfer.hpp"

#include <functional>
#include <optional>
#include <utility>

#include "mpi/file/file_data.hpp"
#include "mpi/file/file_error.hpp"
#include "mpi/file/own_access.hpp"
#include "mpi/making/agreement.hpp"
#include "mpi/process/require.hpp"
#include "mpi/request/request.hpp"
#include "mpi/request/whence.hpp"

namespace isthmus::face {
namespace {

/// The gathering for such an access, or null; the same in all processes.
GatheringRef gathering_of(const GridFile& file, const Way& way, const ViewOfFile& view) {
  const bool write = way.direction == Direction::Write && way.collective && !file.atomic;
  return write ? view.gathering : nullptr;
}

/// One access: gathered, or each process's own.
class Access final : public Operation {
 public:
  Access(GridFileRef file, const Way& way, const Memory& memory, const ViewOfFile& view)
      : file_(std::move(file)),
        way_(way),
        data_(
            std::make_shared<FileData>(memory, way.direction, view.representation, file_->format)),
        etype_size_(view.etype_size),
        gathering_(gathering_of(*file_, way, view)),
        own_(std::make_shared<OwnAccess>(file_, way.direction, data_, view)) {
    comm = file_->comm;
    passive = true;
    if (!file_->near) far_.emplace();
    require(data_->bytes().size() % static_cast<std::size_t>(etype_size_) == 0, MPI_ERR_IO,
            "the data are not a whole number of the view's elementary datatypes");
    require(data_->bytes().empty() || view.seen.filetype.size() > 0, MPI_ERR_ARG,
            "the view has no data, as its filetype is empty");
    etypes = static_cast<std::int64_t>(data_->bytes().size()) / etype_size_;
  }

  /// `position`: in etypes; empty: the shared pointer's.
  void start(std::optional<std::int64_t> position, bool at_once) {
    if (!position || !gathering_) return own_->start(position, at_once);
    std::function<void()> otherwise;
    if (at_once) otherwise = [own = own_, position] { own->start_late(position); };
    gathered_ = write_gathered(file_, gathering_, way_.function, *position * etype_size_,
                               {data_->bytes(), data_}, at_once, std::move(otherwise));
    if (!at_once && gathered_->in_vain()) own_->start(position, false);
  }

  bool advance() override {
    if (gathered_ && !gathered_->ended()) return false;
    const bool own = !gathered_ || gathered_->in_vain();
    if (own && !own_->done()) return false;
    result.error = shielded_file(file_->handle, way_.function, [&]() -> int {
      if (own) {
        moved_ = own_->finish();
      } else {
        gathered_->check();
        if (gathered_->code() != MPI_SUCCESS) {
          return raise_file(file_->handle, gathered_->code(), way_.function);
        }
        moved_ = data_->bytes().size();
      }
      result.bytes = data_->finish(moved_);
      return MPI_SUCCESS;
    });
    result.raised = true;
    far_.reset();
    return true;
  }

  std::int64_t etypes = 0;  ///< requested
  std::int64_t moved() const { return static_cast<std::int64_t>(moved_) / etype_size_; }

 private:
  GridFileRef file_;
  Way way_;
  std::shared_ptr<FileData> data_;
  std::int64_t etype_size_;
  GatheringRef gathering_;
  GatherOutcomeRef gathered_;  // null: not gathered
  std::shared_ptr<OwnAccess> own_;
  std::size_t moved_ = 0;
  std::optional<FarAccess> far_;  // until it has ended
};

void check(const GridFile& file, const Way& way, MPI_Offset offset, const Memory& memory) {
  const bool write = way.direction == Direction::Write;
  require(!write || (file.amode & MPI_MODE_RDONLY) == 0, MPI_ERR_READ_ONLY,
          "the file was opened with MPI_MODE_RDONLY");
  require(write || (file.amode & MPI_MODE_WRONLY) == 0, MPI_ERR_ACCESS,
          "the file was opened with MPI_MODE_WRONLY");
  const bool shared = way.place == Place::Shared || way.place == Place::Ordered;
  require(shared || (file.amode & MPI_MODE_SEQUENTIAL) == 0, MPI_ERR_UNSUPPORTED_OPERATION,
          "a file that was opened with MPI_MODE_SEQUENTIAL has a shared pointer alone");
  require(offset >= 0, MPI_ERR_ARG, "the offset is negative");
  require(memory.count >= 0, MPI_ERR_COUNT, "the count is negative");
  require(memory.type != MPI_DATATYPE_NULL, MPI_ERR_TYPE, "the datatype is MPI_DATATYPE_NULL");
}

/// A member's value instead of its etypes if its part of an ordered access is wrong.
constexpr std::int64_t kWrong = -1;
constexpr const char* kUntold =
    "the file's processes could not tell each other how much they access in order";

/// Moves the shared pointer by the sum of the members' requests; each part begins behind those
/// before it. If a member's part is wrong, all throw.
std::int64_t place_in_order(const GridFile& file, const Way& way, std::int64_t etypes) {
  const auto all = tell_all(file, etypes, kUntold);
  std::int64_t before = 0, sum = 0;
  for (std::size_t r = 0; r < all.size(); ++r) {
    require(all[r] != kWrong, MPI_ERR_OTHER, "another process's part of the access is wrong");
    if (static_cast<int>(r) < file.rank) before += all[r];
    sum += all[r];
  }
  std::int64_t first = 0;
  int failed = 0;
  if (file.rank == 0) {
    try {
      file.run(way.function, [&] { first = file.file->add_shared(sum); });
    } catch (const file::Error& error) {
      failed = error.number;
    }
  }
  const auto answers =
      tell_all(file, std::pair(first, failed),
               "the file's processes could not be told where the shared file pointer is");
  if (answers[0].second != 0) {
    file::fail("the shared file pointer cannot be used", answers[0].second);
  }
  return answers[0].first + before;
}

/// Reports to the waiting members that this process's part is wrong, so that it has none.
void take_no_part(const GridFileRef& file, const Way& way, const ViewOfFile& view, bool at_once) {
  if (way.place == Place::Ordered) {
    tell_all(*file, kWrong, kUntold);
  } else if (const auto gathering = gathering_of(*file, way, view)) {
    write_gathered(file, gathering, way.function, 0, {}, at_once);  // the own error is the first
  }
}

std::unique_ptr<Access> prepare(const GridFileRef& file, const Way& way, MPI_Offset offset,
                                const Memory& memory, bool at_once) {
  const ViewOfFile view = file->view_now();
  try {
    check(*file, way, offset, memory);
    return std::make_unique<Access>(file, way, memory, view);
  } catch (const MpiError&) {
    take_no_part(file, way, view, at_once);
    throw;
  }
}

/// An access that has begun; the pointer has moved, unless what was read decides how far.
std::unique_ptr<Access> begin(const GridFileRef& file, const Way& way, MPI_Offset offset,
                              const Memory& memory, bool at_once) {
  auto access = prepare(file, way, offset, memory, at_once);
  std::optional<std::int64_t> position = offset;
  switch (way.place) {
    case Place::Explicit:
      break;
    case Place::Individual: {
      const core::Lock lock(file->mutex);
      position = file->position;
      file->position += access->etypes;
      break;
    }
    case Place::Shared:
      position.reset();
      break;
    case Place::Ordered:
      position = place_in_order(*file, way, access->etypes);
      break;
  }
  access->start(position, at_once);
  return access;
}

}  // namespace

int transfer(const GridFileRef& file, const Way& way, MPI_Offset offset, const Memory& memory,
             MPI_Status* status) {
  return shielded_file(file->handle, way.function, [&] {
    const auto access = begin(file, way, offset, memory, false);
    const int code = complete(*access, status, way.function);
    if (way.place == Place::Individual && access->moved() < access->etypes) {
      const core::Lock lock(file->mutex);  // the file ended, or something failed
      file->position -= access->etypes - access->moved();
    }
    return code;
  });
}

int transfer_at_once(const GridFileRef& file, const Way& way, MPI_Offset offset,
                     const Memory& memory, MPI_Request* request) {
  return shielded_file(file->handle, way.function, [&] {
    return make_request(begin(file, way, offset, memory, true), request);
  });
}

int begin_split(const GridFileRef& file, const Way& way, MPI_Offset offset, const Memory& memory) {
  return shielded_file(file->handle, way.function, [&] {
    {
      const core::Lock lock(file->mutex);
      require(file->split == nullptr, MPI_ERR_OTHER,
              "another split collective operation is under way on the file");
    }
    auto access = begin(file, way, offset, memory, true);
    const core::Lock lock(file->mutex);
    file->split = std::move(access);
    file->split_call = way.function;
  });
}

int end_split(const GridFileRef& file, const Way& way, void*, MPI_Status* status) {
  return shielded_file(file->handle, way.function, [&] {
    std::unique_ptr<Operation> split;
    {
      const core::Lock lock(file->mutex);
      const std::string begun = file->split_call == nullptr ? "" : file->split_call;
      const std::string name = way.function;  // ends in "end", the other in "begin", maybe "_c"
      const std::string stem = name.substr(0, name.size() - 3);
      require(file->split != nullptr && begun.starts_with(stem + "begin"), MPI_ERR_OTHER,
              "no split collective operation of this kind is under way on the file");
      split = std::move(file->split);
      file->split_call = nullptr;
    }
    return complete(*split, status, way.function);
  });
}

}  // namespace isthmus::face
