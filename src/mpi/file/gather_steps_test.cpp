// Gathered writes of members whose messages and files are in memory.
#include "mpi/file/gather_steps.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <string>
#include <utility>

#include "coll/engine/phases.hpp"
#include "coll/testing/testing.hpp"
#include "file/access.hpp"
#include "file/memory_storage.hpp"

namespace isthmus::face {
namespace {

constexpr std::int64_t kPiece = 64, kPieces = 5000;

/// Work that takes a while: it is done only after some polls.
class Slow final : public coll::Operation {
 public:
  explicit Slow(std::function<void()> work) : work_(std::move(work)) {}
  bool poll() override {
    if (asked_ == 3) return true;
    ++asked_;
    if (asked_ < 3) return false;
    work_();
    return true;
  }

 private:
  std::function<void()> work_;
  int asked_ = 0;
};

/// A member that cannot send messages with this tag, after it could send `after` of them.
class Mute final : public coll::MemoryParty {
 public:
  Mute(coll::MemoryGrid& grid, int rank, int tag, int after)
      : MemoryParty(grid, rank), tag_(tag), after_(after) {}
  coll::Pending send(int rank, int tag, coll::ConstBytes data) override {
    if (tag == tag_ && after_-- == 0) throw MpiError(1, "the line is dead");
    return MemoryParty::send(rank, tag, data);
  }

 private:
  int tag_, after_;
};

/// Members whose views have pieces in turn.
struct Members {
  explicit Members(const coll::Shape& shape_, std::vector<int> aggregators)
      : shape(shape_), ranks(static_cast<std::int64_t>(shape.size())) {
    gathering.aggregators = std::move(aggregators);
    for (std::int64_t r = 0; r < ranks; ++r) {
      const auto tile = core::TypeMap::basic(kPiece, kPiece).resized(0, ranks * kPiece);
      gathering.views.push_back({r * kPiece, tile});
      gathering.pieces.push_back(kPiece);
      data.push_back(coll::pattern(kPiece * kPieces, static_cast<int>(r), 7));
    }
    for (std::size_t r = 0; r < shape.size(); ++r) {
      known.push_back(gathering);  // each process has its own
      files.push_back(std::make_unique<file::MemoryStorage>(found));
    }
  }

  std::vector<std::byte> expected(std::int64_t position) const {
    const auto bytes = std::make_shared<file::MemoryBytes>();
    file::MemoryStorage file(bytes);
    for (std::size_t r = 0; r < data.size(); ++r) {
      file::write_seen(file, gathering.views[r], position, data[r]);
    }
    return bytes->bytes;
  }

  GatherMeans means(int rank) {
    return {.work =
                [](std::function<void()> work) {
                  return coll::Pending(std::make_unique<Slow>(std::move(work)));
                },
            .settle = {},
            .storage = files[coll::as_index(rank)].get()};
  }

  GatherSteps& make(int rank, std::int64_t position) {
    const std::size_t r = coll::as_index(rank);
    steps[r] = std::make_unique<GatherSteps>(known[r], rank, position, data[r], means(rank));
    return *steps[r];
  }

  coll::Shape shape;
  std::int64_t ranks;
  Gathering gathering;
  std::vector<Gathering> known;
  coll::PerRank data;
  std::shared_ptr<file::MemoryBytes> found = std::make_shared<file::MemoryBytes>();
  std::vector<std::unique_ptr<file::Storage>> files;
  std::vector<std::unique_ptr<GatherSteps>> steps{shape.size()};
};

TEST(GatherSteps, TheFileIsWhatEachWouldHaveWritten) {
  const std::vector<std::pair<coll::Shape, std::vector<int>>> cases = {
      {{0, 1}, {0}}, {{0, 0, 1, 1}, {0, 1}}, {{0, 1, 0, 1, 2}, {2}}, {{1, 0, 0}, {1, 2}}};
  for (const auto& [shape, aggregators] : cases) {
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      SCOPED_TRACE(coll::name_of(shape) + " seed " + std::to_string(seed));
      Members members(shape, aggregators);
      const std::int64_t position = static_cast<std::int64_t>(seed) * 100;
      coll::MemoryGrid grid(shape, seed);
      grid.run([&](coll::Party& party) { return members.make(party.rank(), position).run(party); });
      for (const auto& each : members.steps) {
        EXPECT_TRUE(each->gathered());
        EXPECT_FALSE(each->failure());
      }
      ASSERT_TRUE(members.found->bytes == members.expected(position));
    }
  }
}

TEST(GatherSteps, ByteCrossesOnce) {
  Members members({0, 0, 1, 1}, {0, 1});
  coll::MemoryGrid grid(members.shape, 1);
  grid.run([&](coll::Party& party) { return members.make(party.rank(), 0).run(party); });
  const std::size_t data = 2 * kPiece * kPieces;
  EXPECT_GE(grid.bytes_crossed(), data);
  EXPECT_LE(grid.bytes_crossed(), data + 16 * 1024);
}

TEST(GatherSteps, WhatIsNotWorthItIsNotAskedForAgain) {
  Members members({0, 1}, {0});
  for (auto& each : members.data) each.resize(kPiece);
  for (const bool first : {true, false}) {
    coll::MemoryGrid grid(members.shape, 1);
    grid.run([&](coll::Party& party) { return members.make(party.rank(), 0).run(party); });
    for (const auto& each : members.steps) EXPECT_FALSE(each->gathered());
    EXPECT_EQ(grid.crossings() > 0, first);
  }
  EXPECT_TRUE(members.found->bytes.empty());
}

class Full final : public file::MemoryStorage {
 public:
  using MemoryStorage::MemoryStorage;
  void write(std::int64_t, std::span<const std::byte>) override {
    throw file::Error(ENOSPC, "the disk is full");
  }
};

TEST(GatherSteps, AnAggregatorsErrorIsThatOfAll) {
  Members members({0, 0, 1, 1}, {0, 1});
  members.files[1] = std::make_unique<Full>(members.found);
  coll::MemoryGrid grid(members.shape, 1);
  grid.run([&](coll::Party& party) { return members.make(party.rank(), 0).run(party); });
  for (const auto& each : members.steps) {
    ASSERT_TRUE(each->failure());
    EXPECT_EQ(each->failure()->number, ENOSPC);
    EXPECT_STREQ(each->failure()->what(), "the disk is full");
  }
}

TEST(GatherSteps, WhatAMemberWroteBeforeComesBefore) {
  Members members({0, 1}, {0});
  bool settled = false;
  coll::MemoryGrid grid(members.shape, 1);
  grid.run([&](coll::Party& party) {
    const std::size_t r = coll::as_index(party.rank());
    GatherMeans means = members.means(party.rank());
    if (r == 1) {
      means.settle = [&] {
        EXPECT_TRUE(members.found->bytes.empty());
        settled = true;
        throw file::Error(EDQUOT, "the quota is used up");
      };
    }
    members.steps[r] = std::make_unique<GatherSteps>(members.known[r], party.rank(), 0,
                                                     members.data[r], std::move(means));
    return members.steps[r]->run(party);
  });
  EXPECT_TRUE(settled);
  for (const auto& each : members.steps) {
    ASSERT_TRUE(each->failure());
    EXPECT_EQ(each->failure()->number, EDQUOT);
  }
}

/// The error of the write if the far member cannot send.
std::string said(int tag, int after) {
  Members members({0, 1}, {0});
  coll::MemoryGrid grid(members.shape, 1);
  Mute mute(grid, 1, tag, after);
  try {
    grid.run([&](coll::Party& party) {
      return members.make(party.rank(), 0).run(party.rank() == 1 ? mute : party);
    });
  } catch (const MpiError& failure) {
    return failure.what();
  }
  return "nothing";
}

TEST(GatherSteps, WhatCouldNotBeSentIsSaid) {
  EXPECT_EQ(said(coll::kTagAllgather, 0),
            "the processes could not tell each other what they write: the line is dead");
  EXPECT_EQ(
      said(coll::kTagNeighbors, 0),
      "the data to write could not be sent to the processes that gather it: the line is dead");
  EXPECT_EQ(said(coll::kTagAllgather, 1),
            "the processes could not tell each other whether all is written: the line is dead");
  EXPECT_EQ(said(coll::kTagAllgather, 2), "nothing");
}

/// A member whose messages are garbage when they arrive.
class Garbling final : public coll::MemoryParty {
 public:
  using MemoryParty::MemoryParty;
  coll::Pending send(int rank, int tag, coll::ConstBytes data) override {
    garbage_.assign(data.size(), std::byte{0xff});
    return MemoryParty::send(rank, tag, garbage_);
  }

 private:
  std::vector<std::byte> garbage_;
};

using ToldViews = std::vector<std::optional<std::vector<file::View>>>;

/// The views that each of two members gets; `Far` is the far one.
template <class Far, class... Arguments>
ToldViews views_told(Arguments... arguments) {
  const Members members({0, 1}, {0});
  std::vector<ViewTerms> terms;
  for (const file::View& view : members.gathering.views) {
    std::vector<std::byte> map;
    view.filetype.encode(map);
    terms.push_back({view.displacement, map.size()});
  }
  coll::MemoryGrid grid(members.shape, 1);
  Far far(grid, 1, arguments...);
  ToldViews told(members.shape.size());
  grid.run([&](coll::Party& party) {
    const std::size_t r = coll::as_index(party.rank());
    coll::Party& member = r == 1 ? far : party;
    return tell_views(member, members.gathering.views[r], terms, told[r]);
  });
  return told;
}

TEST(GatherSteps, ViewsAreToldToAll) {
  for (const auto& views : views_told<coll::MemoryParty>()) {
    ASSERT_TRUE(views);
    ASSERT_EQ(views->size(), 2U);
    EXPECT_EQ((*views)[0].offset_of(kPiece), 2 * kPiece);
    EXPECT_EQ((*views)[1].offset_of(kPiece), 3 * kPiece);
  }
}

TEST(GatherSteps, ViewsThatCannotBeToldOrReadAreNone) {
  EXPECT_THROW(views_told<Mute>(int{coll::kTagAllgather}, 0), MpiError);
  EXPECT_FALSE(views_told<Garbling>()[0]);
}

}  // namespace
}  // namespace isthmus::face
