#include "window.hpp"

namespace storm {

Window::Window(Step& step, Flavor flavor, std::size_t least) : flavor_(flavor) {
  // MPICH 4.0 mistakes where the memory of others begins when sizes are odd (2026-11).
  constexpr std::size_t kGranule = 64;
  const std::size_t bytes = (least + kGranule - 1) / kGranule * kGranule;
  unit_ = step.random.one_of<int>({1, 4, 8});
  void* memory = nullptr;
  if (flavor == kAllocated) {
    MPI_Win_allocate(static_cast<MPI_Aint>(bytes), unit_, MPI_INFO_NULL, step.comm, &memory, &win_);
    memory_ = {static_cast<unsigned char*>(memory), bytes};
    return;
  }
  own_ = Bytes(bytes);
  memory_ = own_.all();
  if (flavor == kCreated) {
    MPI_Win_create(own_.data(), static_cast<MPI_Aint>(bytes), unit_, MPI_INFO_NULL, step.comm,
                   &win_);
    return;
  }
  unit_ = 1;
  MPI_Win_create_dynamic(MPI_INFO_NULL, step.comm, &win_);
  MPI_Win_attach(win_, own_.data(), static_cast<MPI_Aint>(bytes));
  MPI_Aint base = 0;
  MPI_Get_address(own_.data(), &base);
  bases_.resize(static_cast<std::size_t>(step.size));
  MPI_Allgather(&base, 1, MPI_AINT, bases_.data(), 1, MPI_AINT, step.comm);
}

void Window::free() {
  if (flavor_ == kDynamic) MPI_Win_detach(win_, own_.data());
  MPI_Win_free(&win_);
}

MPI_Aint Window::displacement(int target, std::size_t offset) const {
  if (flavor_ == kDynamic) {
    return MPI_Aint_add(bases_[static_cast<std::size_t>(target)], static_cast<MPI_Aint>(offset));
  }
  return static_cast<MPI_Aint>(offset) / unit_;
}

}  // namespace storm
