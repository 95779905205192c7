#include "core/trace/trace.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>
#include <vector>

#include "core/trace/ring.hpp"

namespace isthmus::core::trace {
namespace {

struct Dump {
  std::string header;
  std::vector<Record> records;
};

Dump read_dump(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  const std::string all{std::istreambuf_iterator<char>(in), {}};
  const std::string mark = "\nrecords\n";
  const std::size_t end = all.find(mark);
  if (end == std::string::npos) return {all, {}};
  const std::size_t begin = end + mark.size();
  Dump dump{all.substr(0, end + 1), std::vector<Record>((all.size() - begin) / sizeof(Record))};
  EXPECT_EQ((all.size() - begin) % sizeof(Record), 0U);
  if (dump.records.empty()) return dump;  // memcpy takes no null pointer
  std::memcpy(dump.records.data(), all.data() + begin, dump.records.size() * sizeof(Record));
  return dump;
}

class TraceTest : public testing::Test {
 protected:
  TraceTest() {
    std::string name = testing::TempDir() + "traceXXXXXX";
    folder_ = mkdtemp(name.data());
  }
  ~TraceTest() override {
    stop();
    std::filesystem::remove_all(folder_);
  }
  Origin origin(std::size_t records = 64) const { return {folder_, "a job", "rank 3", records}; }

  std::string folder_;
};

TEST_F(TraceTest, SubsystemsAreParsed) {
  EXPECT_EQ(parse_subsystems(""), 0U);
  EXPECT_EQ(parse_subsystems(" net , coll "), bit_of(Subsystem::Net) | bit_of(Subsystem::Coll));
  EXPECT_EQ(parse_subsystems("all"), parse_subsystems("net,match,coll,comm,relay,call,link"));
}

TEST_F(TraceTest, AnUnknownSubsystemIsToldWithTheKnownOnes) {
  for (const char* wrong : {"nets", "net,,coll", "net;coll"}) {
    try {
      parse_subsystems(wrong);
      FAIL() << wrong;
    } catch (const std::invalid_argument& error) {
      EXPECT_NE(std::string(error.what()).find("all, net, match, coll, comm, relay, call, link"),
                std::string::npos);
    }
  }
}

TEST_F(TraceTest, AFolderThatIsNotThereIsTold) {
  EXPECT_THROW(start(1, {folder_ + "/none", "job", "rank 0", 64}), std::invalid_argument);
  EXPECT_FALSE(dump("test"));
}

TEST_F(TraceTest, NothingIsKeptWhileItIsOff) {
  note<Event::StreamUp>(1, 2, 3);
  EXPECT_FALSE(dump("test"));
  start(bit_of(Subsystem::Net), origin());
  note<Event::CommFreed>(1, 2, 3);
  note<Event::StreamUp>(4, 5, 6);
  ASSERT_TRUE(dump("test", false));
  const Dump got = read_dump(path());
  ASSERT_EQ(got.records.size(), 1U);
  EXPECT_EQ(got.records[0].event & 0xFFFF, static_cast<unsigned>(Event::StreamUp));
  EXPECT_EQ(got.records[0].event >> 32, static_cast<unsigned>(gettid()));
  EXPECT_EQ(got.records[0].fields, (Fields{4, 5, 6, 0, 0}));
}

TEST_F(TraceTest, ATextHasTheFieldsThatAreLeft) {
  start(~0U, origin());
  note_text<Event::CallBegun>("MPI_Dist_graph_create_adjacent_and_more");
  note_text<Event::PhaseBegun>("gather", 7);
  ASSERT_TRUE(dump("test", false));
  const auto records = read_dump(path()).records;
  ASSERT_EQ(records.size(), 2U);
  const auto text = [](const Record& record, std::size_t used) {
    std::string all(reinterpret_cast<const char*>(record.fields.data()), sizeof record.fields);
    return all.substr(8 * used, all.find('\0', 8 * used) - 8 * used);
  };
  EXPECT_EQ(text(records[0], 0), "MPI_Dist_graph_create_adjacent_and_more");
  EXPECT_EQ(records[1].fields[0], 7);
  EXPECT_EQ(text(records[1], 1), "gather");
}

TEST_F(TraceTest, ANumberOfRecordsIsParsed) {
  EXPECT_EQ(parse_records(""), kUsualRecords);
  EXPECT_EQ(parse_records("1000"), 1024U);
  for (const char* wrong : {"0", "many", "16777217", "-1", "8 "}) {
    EXPECT_THROW(parse_records(wrong), std::invalid_argument) << wrong;
  }
}

TEST_F(TraceTest, WhatIsGatheredGoesElsewhereWhereItsFolderIsNot) {
  Origin gathered = origin();
  gathered.directory = folder_ + "/none";
  gathered.gathered = true;
  start(~0U, gathered);
  EXPECT_EQ(std::string(path()), "/tmp/a-job-rank-3.trace");
}

TEST_F(TraceTest, ADumpIsWrittenThroughNothingThatStandsThere) {
  start(~0U, origin());
  const std::string victim = folder_ + "/victim";
  std::ofstream(victim) << "before";
  std::filesystem::create_symlink(victim, path());
  ASSERT_TRUE(dump("the end", false));
  ASSERT_TRUE(dump("again", false));
  EXPECT_FALSE(std::filesystem::is_symlink(path()));
  EXPECT_EQ(std::filesystem::status(path()).permissions(), std::filesystem::perms{0600});
  std::string said;
  std::ifstream(victim) >> said;
  EXPECT_EQ(said, "before");
}

TEST_F(TraceTest, ADumpSaysWhatItsNumbersMean) {
  start(~0U, origin());
  name_value("kind", 16, "Envelope");
  ASSERT_TRUE(dump("the end", false));
  EXPECT_EQ(std::filesystem::path(path()).filename(), "a-job-rank-3.trace");
  const std::string header = read_dump(path()).header;
  for (const char* line : {"isthmus-trace 1\n", "process rank 3\n", "job a job\n",
                           "event 5 net stream-up peer stream streams\n", "name kind 16 Envelope\n",
                           "reason the end\n"}) {
    EXPECT_NE(header.find(line), std::string::npos) << line << "in\n" << header;
  }
}

TEST_F(TraceTest, TheChildOfAForkLeavesTheFileAlone) {
  start(~0U, origin());
  const pid_t child = fork();
  if (child == 0) _exit(dump("the child") ? 1 : 0);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_FALSE(std::filesystem::exists(path()));
}

TEST_F(TraceTest, OldRecordsGiveWay) {
  start(~0U, origin(64));
  for (int i = 1; i <= 1000; ++i) note<Event::ConduitDead>(i);
  ASSERT_TRUE(dump("test", false));
  const auto records = read_dump(path()).records;
  ASSERT_EQ(records.size(), 64U);
  for (std::size_t i = 0; i < records.size(); ++i) {
    EXPECT_EQ(records[i].number, 1000 - 64 + 1 + i);
    EXPECT_EQ(records[i].fields[0], static_cast<std::int64_t>(records[i].number));
  }
}

TEST_F(TraceTest, ThreadsWriteAndOthersDumpAllTheTime) {
  start(~0U, origin(256));
  constexpr int kThreads = 4, kEach = 20000;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([t] {
      for (int i = 0; i < kEach; ++i) note<Event::CommMade>(t, i, t + i, t - i);
    });
  }
  const auto check = [&] {
    ASSERT_TRUE(dump("test", false));
    for (const Record& r : read_dump(path()).records) {
      ASSERT_EQ(r.fields[2], r.fields[0] + r.fields[1]);
      ASSERT_EQ(r.fields[3], r.fields[0] - r.fields[1]);
    }
  };
  for (int i = 0; i < 20; ++i) check();
  for (auto& thread : threads) thread.join();
  check();
  const auto records = read_dump(path()).records;
  ASSERT_FALSE(records.empty());
  EXPECT_EQ(records.back().number, static_cast<std::uint64_t>(kThreads) * kEach);
}

TEST_F(TraceTest, AFaultDumpsAndStillKills) {
  for (const int number : {SIGSEGV, SIGABRT}) {
    const pid_t child = fork();
    if (child == 0) {           // it begins its own trace
      signal(number, SIG_DFL);  // sanitizers have handlers of their own
      start(~0U, origin());
      dump_on_faults();
      note<Event::WayLost>(number);
      raise(number);
      _exit(0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status));
    EXPECT_EQ(WTERMSIG(status), number);
    const Dump got = read_dump(folder_ + "/a-job-rank-3.trace");
    ASSERT_EQ(got.records.size(), 1U);
    EXPECT_EQ(got.records[0].fields[0], number);
    EXPECT_NE(got.header.find(number == SIGSEGV ? "reason SIGSEGV\n" : "reason SIGABRT\n"),
              std::string::npos);
  }
}

TEST_F(TraceTest, TheProgramsOwnHandlerIsCalledAfterTheDump) {
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGSEGV, [](int) { _exit(access(path(), R_OK) == 0 ? 7 : 8); });
    start(~0U, origin());
    dump_on_faults();
    raise(SIGSEGV);
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 7);
}

}  // namespace
}  // namespace isthmus::core::trace
