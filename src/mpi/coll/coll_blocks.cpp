#include "mpi/coll/coll_blocks.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

#include "coll/engine/buffer.hpp"
#include "coll/engine/portion.hpp"
#include "mpi/datatype/formats.hpp"
#include "mpi/native/gpu.hpp"
#include "mpi/process/require.hpp"

namespace isthmus::face {
namespace {

coll::Sizes sizes_of(const std::vector<Block>& blocks) {
  coll::Sizes sizes;
  for (const Block& b : blocks) sizes.push_back(b.count == 0 ? 0 : packed_size(b.count, b.type));
  return sizes;
}

/// The first block's address, if the blocks are one gapless run of memory of the host.
std::optional<const std::byte*> run_of(const std::vector<Block>& blocks, const coll::Sizes& sizes) {
  const std::byte* first = nullptr;
  const void* next = nullptr;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (sizes[i] == 0) continue;
    MPI_Aint lower = 0;
    if (!is_contiguous(blocks[i].count, blocks[i].type, &lower)) return std::nullopt;
    const void* begin = moved(blocks[i].address, lower);
    if (first == nullptr) {
      first = static_cast<const std::byte*>(begin);
    } else if (begin != next) {
      return std::nullopt;
    }
    next = moved(begin, static_cast<MPI_Aint>(sizes[i]));
  }
  if (first != nullptr && on_device(first)) return std::nullopt;
  return first;
}

/// The signature of each block, if data of the communicator may have another format than memory.
std::vector<SignatureRef> signatures_of(const GridComm& comm, const std::vector<Block>& blocks) {
  std::vector<SignatureRef> signatures;
  if (!comm.mixes_formats || own_format() == core::kCommonFormat) return signatures;
  for (const Block& b : blocks) {
    signatures.push_back(b.count == 0 ? nullptr : face::signature_of(b.type));
  }
  const auto none = [](const SignatureRef& each) { return each == nullptr; };
  if (std::ranges::all_of(signatures, none)) signatures.clear();
  return signatures;
}

void change_formats(coll::Bytes all, const coll::Sizes& sizes,
                    const std::vector<SignatureRef>& signatures, core::Format from,
                    core::Format to) {
  for (std::size_t i = 0; i < signatures.size(); ++i) {
    change_format(all.first(sizes[i]), signatures[i].get(), from, to);
    all = all.subspan(sizes[i]);
  }
}

}  // namespace

const void* moved(const void* address, MPI_Aint bytes) {
  return reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(address) +
                                       static_cast<std::uintptr_t>(bytes));
}

MPI_Aint extent_of(MPI_Datatype type) {
  MPI_Aint lower = 0, extent = 0;
  const int code = native.Type_get_extent(type, &lower, &extent);
  if (code != MPI_SUCCESS) throw MpiError(MPI_ERR_TYPE, "the datatype is not valid");
  return extent;
}

std::vector<Block> even_blocks(const void* buffer, MPI_Count count, MPI_Datatype type, int ranks) {
  const MPI_Aint step = extent_of(type) * static_cast<MPI_Aint>(count);
  std::vector<Block> blocks;
  blocks.reserve(static_cast<std::size_t>(ranks));
  for (int r = 0; r < ranks; ++r) blocks.push_back({moved(buffer, step * r), count, type});
  return blocks;
}

OutBlocks::OutBlocks(const GridComm& comm, const std::vector<Block>& blocks, Copy copy)
    : sizes_(sizes_of(blocks)) {
  const std::size_t size = coll::total(sizes_);
  if (size == 0) return;
  const auto run = run_of(blocks, sizes_);
  const auto signatures = signatures_of(comm, blocks);
  if (run && copy == Copy::IfNeeded && signatures.empty()) {
    bytes_ = {*run, size};
    return;
  }
  owned_ = core::KeptBlock(size);
  bytes_ = {owned_.get(), size};
  std::byte* place = owned_.get();
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (sizes_[i] == 0) continue;
    const Outgoing packed(blocks[i].address, blocks[i].count, blocks[i].type);
    std::memcpy(place, packed.bytes().data(), sizes_[i]);
    place += sizes_[i];
  }
  if (!signatures.empty()) {
    change_formats({owned_.get(), size}, sizes_, signatures, own_format(), core::kCommonFormat);
  }
}

InBlocks::InBlocks(const GridComm& comm, std::vector<Block> blocks, bool outlives_call)
    : blocks_(std::move(blocks)),
      sizes_(sizes_of(blocks_)),
      signatures_(signatures_of(comm, blocks_)) {
  const std::size_t size = coll::total(sizes_);
  if (size == 0) return;
  if (const auto run = run_of(blocks_, sizes_)) {
    bytes_ = {const_cast<std::byte*>(*run), size};
    return;
  }
  owned_ = core::KeptBlock(size);
  bytes_ = {owned_.get(), size};
  if (!outlives_call) return;
  MPI_Datatype last = MPI_DATATYPE_NULL;
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    if (sizes_[i] == 0) continue;
    if (last == MPI_DATATYPE_NULL || blocks_[i].type != last) {
      last = blocks_[i].type;
      kept_.emplace_back(last);
    }
    blocks_[i].type = kept_.back().get();
  }
}

void InBlocks::finish() {
  if (!signatures_.empty()) {
    change_formats(bytes_, sizes_, signatures_, core::kCommonFormat, own_format());
  }
  if (!owned_) return;
  const std::byte* place = owned_.get();
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    if (sizes_[i] == 0) continue;
    Incoming incoming(const_cast<void*>(blocks_[i].address), blocks_[i].count, blocks_[i].type);
    std::memcpy(incoming.bytes().data(), place, sizes_[i]);
    const int code = incoming.finish(sizes_[i]);
    require_success(code, "the data could not be unpacked");
    place += sizes_[i];
  }
  owned_.reset();
  kept_.clear();
}

}  // namespace isthmus::face
