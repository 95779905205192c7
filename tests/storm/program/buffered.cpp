// Buffered sends, whose buffer is detached while they are under way.
#include "kinds.hpp"

namespace storm {

void buffered(Step& step) {
  const int count = step.random.between(1, 12);
  const int shift = step.random.below(step.size);
  const int to = (step.rank + shift) % step.size,
            from = (step.rank + step.size - shift) % step.size;
  std::vector<std::size_t> sizes;
  std::size_t room = 0;
  for (int i = 0; i < count; ++i) {
    sizes.push_back(step.draw_size(std::size_t{256} << 10));
    room += sizes.back() + MPI_BSEND_OVERHEAD + 64;  // what MPI_Pack_size may add
  }
  Bytes buffer(room);
  MPI_Buffer_attach(buffer.data(), buffer.count());
  UnderWay operations;
  for (int i = 0; i < count; ++i) {
    const Bytes bytes(sizes[static_cast<std::size_t>(i)], step.key(step.rank, to, i));
    if (step.own.chance(50)) {
      MPI_Bsend(bytes.data(), bytes.count(), MPI_BYTE, to, step.tag(), step.comm);
      bytes.spoil();
    } else {
      MPI_Ibsend(bytes.data(), bytes.count(), MPI_BYTE, to, step.tag(), step.comm,
                 operations.add([bytes](const MPI_Status&) { bytes.spoil(); }));
    }
  }
  operations.complete(step.own);
  for (int i = 0; i < count; ++i) {
    const Bytes bytes(sizes[static_cast<std::size_t>(i)]);
    MPI_Irecv(bytes.data(), bytes.count(), MPI_BYTE, from, step.tag(), step.comm,
              operations.add([bytes, step, from, i](const MPI_Status&) {
                step.expect(bytes.all(), step.key(from, step.rank, i), "a buffered message", from);
              }));
  }
  void* detached = nullptr;
  int size = 0;
  MPI_Buffer_detach(&detached, &size);  // once all has left it: the receives are posted
  if (detached != buffer.data() || size != buffer.count()) step.wrong("another buffer is detached");
  buffer.spoil();
  operations.complete(step.own);
}

}  // namespace storm
