#include "coll/choose.hpp"

#include <gtest/gtest.h>

#include <set>
#include <stdexcept>

#include "coll/testing.hpp"

namespace isthmus::coll {
namespace {

std::string complaint(const char* text) {
  try {
    parse_forced(text);
  } catch (const std::invalid_argument& wrong) {
    return wrong.what();
  }
  return "";
}

TEST(Table, NamesAreUniqueAndEveryKindCanAlwaysBeSolved) {
  std::set<std::pair<Kind, std::string_view>> seen;
  std::set<Kind> solved;
  for (const Algorithm& row : algorithms()) {
    EXPECT_TRUE(seen.emplace(row.kind, row.name).second) << row.name;
    EXPECT_EQ(find_algorithm(row.kind, row.name), &row);
    const Demands& d = row.demands;
    if (!d.commutative && !d.only_commutative && !d.clusters && !d.known_bytes) {
      solved.insert(row.kind);
    }
  }
  EXPECT_EQ(solved.size(), static_cast<std::size_t>(kKinds));
}

TEST(Table, EveryCostIsANumberAboveZero) {
  const std::vector<int> shape{0, 0, 0, 1, 1, 2};
  const Layout layout(shape);
  for (const Algorithm& row : algorithms()) {
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{1} << 20}) {
      const double cost = row.cost({layout, Network{}, {row.kind, bytes, true}}, {});
      EXPECT_GE(cost, Network{}.wan_latency) << row.name << " " << name_of(row.kind);
      EXPECT_LT(cost, 10) << row.name << " " << name_of(row.kind);
    }
  }
}

TEST(Forced, ReadsNamesAndParameters) {
  const Forced forced = parse_forced(" bcast=magpie , allreduce = magpie,");
  EXPECT_EQ(forced.of(Kind::Bcast).algorithm, find_algorithm(Kind::Bcast, "magpie"));
  EXPECT_EQ(forced.of(Kind::Allreduce).algorithm, find_algorithm(Kind::Allreduce, "magpie"));
  EXPECT_EQ(forced.of(Kind::Reduce).algorithm, nullptr);
  const Forced changed = parse_forced("bcast=auto", forced);
  EXPECT_EQ(changed.of(Kind::Bcast).algorithm, nullptr);
  EXPECT_NE(changed.of(Kind::Allreduce).algorithm, nullptr);
}

TEST(Forced, ComplaintsListWhatIsAllowed) {
  EXPECT_NE(complaint("broadcast=magpie").find("name one of barrier, bcast"), std::string::npos);
  EXPECT_NE(complaint("bcast").find("COLLECTIVE=ALGORITHM"), std::string::npos);
  EXPECT_NE(complaint("bcast=magic").find("auto or one of magpie"), std::string::npos);
  EXPECT_NE(complaint("bcast=magpie:segment=1K").find("heeds no parameters"), std::string::npos);
  EXPECT_NE(complaint("bcast=auto:segment=1K").find("name an algorithm"), std::string::npos);
}

}  // namespace
}  // namespace isthmus::coll
