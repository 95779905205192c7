// Files through views of all layouts, by every kind of access and pointer. Written data is read
// back, also without MPI, and compared with the plan.
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "file_access.hpp"
#include "file_view.hpp"
#include "kinds.hpp"
#include "typed_memory.hpp"

namespace storm {

namespace {

constexpr std::size_t kMost = std::size_t{192} << 10;

struct Open {
  MPI_File file = MPI_FILE_NULL;
  std::string path;
  FileModel model;
  bool atomic = false;
};

MPI_Info draw_hints(Step& step) {
  MPI_Info info;
  MPI_Info_create(&info);
  for (const char* key : {"isthmus_share", "isthmus_ahead", "isthmus_gather"}) {
    if (step.random.chance(50)) MPI_Info_set(info, key, "false");
  }
  return info;
}

Open open_file(Step& step) {
  Open made;
  made.path = text("%s/storm-%llu-%d-%d", options.files.c_str(),
                   static_cast<unsigned long long>(options.seed), step.number, step.party.depth);
  MPI_Info info = draw_hints(step);
  const int code = MPI_File_open(step.comm, made.path.c_str(), MPI_MODE_CREATE | MPI_MODE_RDWR,
                                 info, &made.file);
  MPI_Info_free(&info);
  if (code != MPI_SUCCESS) step.wrong("MPI_File_open has failed");
  MPI_File_set_errhandler(made.file, MPI_ERRORS_ARE_FATAL);
  MPI_File_set_size(made.file, 0);
  return made;
}

// Afterwards each rank may read the data of all.
void settle_file(Step& step, const Open& open) {
  if (!open.atomic) MPI_File_sync(open.file);
  MPI_Barrier(step.comm);
  if (!open.atomic) MPI_File_sync(open.file);
}

struct Share {
  std::size_t elements, before;  ///< how many, behind how many of the view
};

void set_view(const Open& open, const View& view) {
  MPI_File_set_view(open.file, view.from, view.etype, view.type(), "native", MPI_INFO_NULL);
}

// Each rank writes its part, in any form, with any layout in memory.
void write_and_read(Step& step, Open& open, int number) {
  const std::size_t most = kMost / static_cast<std::size_t>(step.size) * 2;
  const std::vector<View> views = draw_views(step, most * 2);
  const std::size_t unit = views[0].element.bytes();
  std::vector<Share> shares;
  for (int rank = 0; rank < step.size; ++rank) {
    const std::size_t elements = step.draw_size(most) / unit;
    shares.push_back({elements, static_cast<std::size_t>(step.random.below(100))});
  }
  const auto memory = [&](const Share& share, const View& view, int salt) {
    const Signature signature{{{view.element.runs[0].base, static_cast<int>(share.elements)}}};
    const std::uint64_t key = step.key(step.rank, number, -salt);
    if (share.elements == 0) return TypedMemory({draw_layout(step.own, view.element, 1), 0}, key);
    return TypedMemory(draw_counted(step.own, signature, 1), key);
  };
  const auto me = static_cast<std::size_t>(step.rank);

  step.name = text("files (round %d, in %s of %s)", number, open.atomic ? "atomic mode" : "views",
                   views[me].filetype ? views[me].filetype->name().c_str() : "all");
  set_view(open, views[me]);
  const TypedMemory sent = memory(shares[me], views[me], 1);
  sent.fill(step.key(step.rank, number));
  UnderWay operations;
  const AccessForm form = draw_access_form(step);
  const auto count_is = [step = step](const TypedMemory& of, const char* what) {
    return [=](const MPI_Status& status) {
      int count = -1;
      MPI_Get_count(&status, of.type(), &count);
      step.expect_equal(count, of.count(), what);
    };
  };
  const auto offset = [](const Share& share) { return static_cast<MPI_Offset>(share.before); };
  access_file(step, open.file, form, true, offset(shares[me]), sent.address(), sent.count(),
              sent.type(), operations, count_is(sent, "the count of a write"));
  operations.complete(step.own);
  sent.spoil();
  if (form.pointer) {
    MPI_Offset position = -1;
    MPI_File_get_position(open.file, &position);
    step.expect_equal(position, static_cast<long long>(shares[me].before + shares[me].elements),
                      "the position behind a write");
  }
  for (int rank = 0; rank < step.size; ++rank) {
    const auto i = static_cast<std::size_t>(rank);
    const std::size_t bytes = shares[i].elements * unit;
    if (bytes == 0) continue;
    open.model.write(views[i], shares[i].before * unit, bytes, step.key(rank, number));
  }
  settle_file(step, open);

  // Through the view of another rank, a bit more or less than was written there.
  const int shift = step.random.below(step.size);
  const auto other = static_cast<std::size_t>((step.rank + shift) % step.size);
  set_view(open, views[other]);
  MPI_Offset size = 0;
  MPI_File_get_size(open.file, &size);
  step.expect_equal(size, static_cast<long long>(open.model.bytes().size()), "the file's size");
  Share share = shares[other];
  const auto skip =
      std::min<std::size_t>(share.elements, static_cast<std::size_t>(step.own.below(9)));
  share.before += skip;
  share.elements -= skip;
  const TypedMemory got = memory(share, views[other], 2);
  const AccessForm back = draw_access_form(step);
  access_file(step, open.file, back, false, offset(share), got.address(), got.count(), got.type(),
              operations, count_is(got, "the count of a read"));
  operations.complete(step.own);
  const std::vector<int> should =
      open.model.read(views[other], share.before * unit, share.elements * unit);
  got.expect_bytes(step, should,
                   text("round %d%s: bytes from %zu on of the view %lld %s, %s%s%s", number,
                        open.atomic ? ", atomic" : "", share.before * unit,
                        static_cast<long long>(views[other].from),
                        views[other].filetype ? views[other].filetype->name().c_str() : "of all",
                        back.collective ? "collective " : "", back.pointer ? "pointer " : "",
                        back.kind == AccessForm::kBlocking ? "blocking"
                        : back.kind == AccessForm::kSplit  ? "split"
                                                           : "non-blocking")
                       .c_str());
  MPI_Barrier(step.comm);  // the next round writes
}

// In the order of ranks, by the pointer that all share.
void ordered(Step& step, Open& open, int number) {
  View plain;
  set_view(open, plain);
  const MPI_Offset from = step.random.below(3000);
  MPI_File_seek_shared(open.file, from, MPI_SEEK_SET);
  std::vector<std::size_t> sizes;
  std::size_t mine = 0, end = static_cast<std::size_t>(from);
  for (int rank = 0; rank < step.size; ++rank) {
    sizes.push_back(step.draw_size(kMost / static_cast<std::size_t>(step.size)));
    if (rank == step.rank) mine = end;
    open.model.write(plain, end, sizes.back(), step.key(rank, number));
    end += sizes.back();
  }
  const std::size_t size = sizes[static_cast<std::size_t>(step.rank)];
  const Bytes sent(size, step.key(step.rank, number)), got(size);
  const bool split = step.random.chance(50), split_read = step.random.chance(50);
  if (split) {
    MPI_File_write_ordered_begin(open.file, sent.data(), sent.count(), MPI_BYTE);
    MPI_File_write_ordered_end(open.file, sent.data(), MPI_STATUS_IGNORE);
  } else {
    MPI_File_write_ordered(open.file, sent.data(), sent.count(), MPI_BYTE, MPI_STATUS_IGNORE);
  }
  sent.spoil();
  MPI_Offset position = -1;
  MPI_Barrier(step.comm);
  MPI_File_get_position_shared(open.file, &position);
  step.expect_equal(position, static_cast<long long>(end), "the shared position");
  settle_file(step, open);
  MPI_File_seek_shared(open.file, from, MPI_SEEK_SET);
  if (split_read) {
    MPI_File_read_ordered_begin(open.file, got.data(), got.count(), MPI_BYTE);
    MPI_File_read_ordered_end(open.file, got.data(), MPI_STATUS_IGNORE);
  } else {
    MPI_File_read_ordered(open.file, got.data(), got.count(), MPI_BYTE, MPI_STATUS_IGNORE);
  }
  step.expect(got.all(), step.key(step.rank, number), "what a rank wrote in its turn",
              static_cast<int>(mine));
  MPI_Barrier(step.comm);
}

// In any order: each record is somebody's, whole, and as often as that rank wrote.
void shared(Step& step, Open& open, int number) {
  View plain;
  set_view(open, plain);
  const MPI_Offset from = step.random.below(3000);
  MPI_File_seek_shared(open.file, from, MPI_SEEK_SET);
  const std::size_t size = std::max<std::size_t>(16, step.draw_size(std::size_t{20} << 10));
  const int each = step.random.between(1, 4);
  UnderWay operations;
  for (int i = 0; i < each; ++i) {
    const Bytes sent(size, step.key(step.rank, number, i));
    if (step.own.chance(50)) {
      MPI_File_write_shared(open.file, sent.data(), sent.count(), MPI_BYTE, MPI_STATUS_IGNORE);
      sent.spoil();
    } else {
      MPI_File_iwrite_shared(open.file, sent.data(), sent.count(), MPI_BYTE,
                             operations.add([sent](const MPI_Status&) { sent.spoil(); }));
    }
  }
  operations.complete(step.own);
  settle_file(step, open);
  const int records = each * step.size;
  const Bytes all(size * static_cast<std::size_t>(records));
  MPI_File_read_at(open.file, from, all.data(), all.count(), MPI_BYTE, MPI_STATUS_IGNORE);
  std::vector<int> found(static_cast<std::size_t>(records));
  for (int i = 0; i < records; ++i) {
    const auto record = all.all().subspan(static_cast<std::size_t>(i) * size, size);
    bool known = false;
    for (int j = 0; j < records && !known; ++j) {
      const std::uint64_t key = step.key(j / each, number, j % each);
      known = first_wrong(record, key) == size && found[static_cast<std::size_t>(j)]++ == 0;
      if (known)
        open.model.write(plain, static_cast<std::size_t>(from) + static_cast<std::size_t>(i) * size,
                         size, key);
    }
    if (!known)
      step.wrong(text("record %d of %zu bytes by the shared pointer is nobody's", i, size));
  }
  MPI_Barrier(step.comm);
  // Each record is read by one rank.
  MPI_File_seek_shared(open.file, from, MPI_SEEK_SET);
  std::fill(found.begin(), found.end(), 0);
  for (int i = 0; i < each; ++i) {
    const Bytes got(size);
    MPI_File_read_shared(open.file, got.data(), got.count(), MPI_BYTE, MPI_STATUS_IGNORE);
    for (int j = 0; j < records; ++j) {
      const std::uint64_t key = step.key(j / each, number, j % each);
      if (first_wrong(got.all(), key) == size) ++found[static_cast<std::size_t>(j)];
    }
  }
  std::vector<int> sum(found.size());
  MPI_Allreduce(found.data(), sum.data(), records, MPI_INT, MPI_SUM, step.comm);
  for (int j = 0; j < records; ++j) {
    step.expect_equal(sum[static_cast<std::size_t>(j)], 1, "how many read a record", j / each);
  }
  MPI_Barrier(step.comm);
}

// All write to the same place. The bytes are then those of one rank.
void atomic(Step& step, Open& open, int number) {
  View plain;
  set_view(open, plain);
  const MPI_Offset from = step.random.below(3000);
  const std::size_t size = std::max<std::size_t>(16, step.draw_size(std::size_t{100} << 10));
  MPI_File_set_atomicity(open.file, 1);
  const Bytes sent(size, step.key(step.rank, number)), got(size);
  MPI_File_write_at(open.file, from, sent.data(), sent.count(), MPI_BYTE, MPI_STATUS_IGNORE);
  MPI_File_read_at(open.file, from, got.data(), got.count(), MPI_BYTE, MPI_STATUS_IGNORE);
  const auto writer = [&] {
    for (int rank = 0; rank < step.size; ++rank) {
      if (first_wrong(got.all(), step.key(rank, number)) == size) return rank;
    }
    step.wrong(text("%zu bytes in atomic mode are of nobody alone", size));
  };
  writer();
  MPI_Barrier(step.comm);
  MPI_File_read_at(open.file, from, got.data(), got.count(), MPI_BYTE, MPI_STATUS_IGNORE);
  const int last = writer();
  open.model.write(plain, static_cast<std::size_t>(from), size, step.key(last, number));
  MPI_Barrier(step.comm);
  if (!open.atomic) MPI_File_set_atomicity(open.file, 0);
}

void resize(Step& step, Open& open) {
  const std::size_t has = open.model.bytes().size();
  const auto size = static_cast<std::size_t>(step.random.below(static_cast<int>(has) + 5000));
  MPI_File_set_size(open.file, static_cast<MPI_Offset>(size));
  open.model.resize(size);
  MPI_Offset got = -1;
  MPI_File_get_size(open.file, &got);
  step.expect_equal(got, static_cast<long long>(size), "the size that was set");
  MPI_Barrier(step.comm);
}

}  // namespace

void files(Step& step) {
  Open open = open_file(step);
  const int rounds = step.random.between(1, 6);
  for (int i = 0; i < rounds; ++i) {
    if (step.random.chance(20)) {
      open.atomic = !open.atomic;
      MPI_File_set_atomicity(open.file, open.atomic);
    }
    const int way = step.random.below(10);
    if (way < 5) write_and_read(step, open, i);
    if (way == 5 || way == 6) ordered(step, open, i);
    if (way == 7) shared(step, open, i);
    if (way == 8) atomic(step, open, i);
    if (way == 9) resize(step, open);
  }
  MPI_File_close(&open.file);
  if (step.rank == 0) {
    std::ifstream in(open.path, std::ios::binary);
    const std::vector<char> has((std::istreambuf_iterator<char>(in)),
                                std::istreambuf_iterator<char>());
    const auto& should = open.model.bytes();
    step.expect_equal(static_cast<long long>(has.size()), static_cast<long long>(should.size()),
                      "the size of the file");
    for (std::size_t i = 0; i < has.size(); ++i) {
      const auto byte = static_cast<unsigned char>(has[i]);
      if (should[i] != FileModel::kUnwritten && byte != should[i]) {
        step.wrong(text("byte %zu of the file is %02x, should be %02x", i, byte,
                        static_cast<unsigned>(should[i])));
      }
    }
    MPI_File_delete(open.path.c_str(), MPI_INFO_NULL);
    if (access(open.path.c_str(), F_OK) == 0) step.wrong("a deleted file is still there");
  }
  MPI_Barrier(step.comm);
}

}  // namespace storm
