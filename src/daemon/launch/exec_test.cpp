#include "daemon/launch/exec.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>

#include "daemon/host/failure.hpp"
#include "daemon/launch/argv_file.hpp"
#include "daemon/launch/rank_environment.hpp"
#include "daemon/launch/rank_output.hpp"
#include "daemon/launch/tagged_output.hpp"

namespace isthmus::daemon {
namespace {

RankSetup setup() {
  RankSetup setup;
  setup.job = "j";
  setup.secret = std::string("\x01\xfe", 2);
  setup.world = "{}";
  setup.cluster = "east";
  setup.first = 8;
  setup.stub = "/lib/stub.so";
  setup.libdir = "/lib";
  setup.wdir = "/tmp";
  setup.parts = {{2, {"a"}, {{"X", "1"}}}, {1, {"b", "c"}, {{"X", "2"}}}};
  return setup;
}

TEST(Exec, EnvironmentOfTheRank) {
  Environment environment;
  environment.set("LD_PRELOAD", "/mine.so");
  set_rank_environment(setup(), environment);
  const RankPlan plan = plan_rank({1, false, {"prog", "arg"}}, environment);
  EXPECT_EQ(plan.argv, (std::vector<std::string>{"prog", "arg"}));
  EXPECT_EQ(plan.directory, "/tmp");
  EXPECT_EQ(plan.environment.get("X"), "2");
  EXPECT_EQ(plan.environment.get("LD_PRELOAD"), "/mine.so:/lib/stub.so");
  EXPECT_EQ(plan.environment.get("ISTHMUS_SECRET"), "01fe");
  EXPECT_EQ(plan.environment.get("ISTHMUS_FIRST"), "8");
  EXPECT_FALSE(plan.environment.get("ISTHMUS_PARTS"));
}

TEST(Exec, LongCommandLinesComeByAFile) {
  const std::string path = testing::TempDir() + "/argv-" + std::to_string(getpid());
  const std::vector<std::string> argv{"prog", "", "a\nb", "t\xe9t", std::string(100'000, 'x')};
  EXPECT_TRUE(is_long(argv));
  EXPECT_FALSE(is_long({"prog", "arg"}));
  EXPECT_TRUE(is_long(std::vector<std::string>(1000)));
  write_argv(path, argv);
  Environment environment;
  set_rank_environment(setup(), environment);
  EXPECT_EQ(plan_rank({0, false, {}, path}, environment).argv, argv);
  std::remove(path.c_str());
  EXPECT_THROW(plan_rank({0, false, {}, path}, environment), Failure);
}

TEST(Exec, ThePartsOwnPreloadComesFirst) {
  RankSetup with_preload = setup();
  with_preload.parts[0].env["LD_PRELOAD"] = "/tool.so";
  Environment environment;
  set_rank_environment(with_preload, environment);
  EXPECT_EQ(plan_rank({0, false, {"p"}}, environment).environment.get("LD_PRELOAD"),
            "/tool.so:/lib/stub.so");
}

TEST(Exec, WithoutAStubNothingIsPreloaded) {
  RankSetup bare = setup();
  bare.stub.clear();
  Environment environment;
  set_rank_environment(bare, environment);
  EXPECT_FALSE(plan_rank({0, false, {"p"}}, environment).environment.get("LD_PRELOAD"));
}

TEST(Exec, AClusterThatIsTheWorldGivesItsRanksNothingToJoin) {
  RankSetup alone = setup();
  alone.world.clear();
  alone.stub.clear();
  alone.tag_output = true;
  alone.first = 0;
  Environment environment;
  set_rank_environment(alone, environment);
  environment.set("PMI_RANK", "1");
  const RankPlan plan = plan_rank({1, false, {"p"}}, environment);
  EXPECT_EQ(plan.world_rank, 1);
  EXPECT_EQ(plan.environment.get("ISTHMUS_CLUSTER"), "east");
  EXPECT_EQ(plan.environment.get("X"), "2");
  for (const char* name : {"ISTHMUS_WORLD", "ISTHMUS_SECRET", "ISTHMUS_LIBDIR", "ISTHMUS_FIRST",
                           "ISTHMUS_STUB", "LD_PRELOAD"}) {
    EXPECT_FALSE(plan.environment.get(name)) << name;
  }
}

TEST(Exec, ByRankFindsPartAndProgram) {
  RankSetup by_rank = setup();
  by_rank.by_rank = true;
  by_rank.tag_output = true;
  Environment environment;
  set_rank_environment(by_rank, environment);
  const char* const expected[] = {"a", "a", "b"};
  for (int rank = 0; rank < 3; ++rank) {
    environment.set("SLURM_PROCID", std::to_string(rank));
    const RankPlan plan = plan_rank({0, true, {}}, environment);
    EXPECT_EQ(plan.argv.front(), expected[rank]);
    EXPECT_EQ(plan.world_rank, 8 + rank);
  }
  environment.set("SLURM_PROCID", "3");
  EXPECT_THROW(plan_rank({0, true, {}}, environment), Failure);
}

TEST(Exec, PathsOfTheUserAreGivenBack) {
  RankSetup kept = setup();
  kept.keep_paths = true;
  Environment environment;
  environment.set("PATH", "/venv/bin:/bin");
  set_rank_environment(kept, environment);
  environment.set("PATH", "/mpi/bin:/venv/bin:/bin");  // as the native launcher does
  environment.set("LD_LIBRARY_PATH", "/mpi/lib");
  const RankPlan plan = plan_rank({0, false, {"p"}}, environment);
  EXPECT_EQ(plan.environment.get("PATH"), "/venv/bin:/bin");
  EXPECT_FALSE(plan.environment.get("LD_LIBRARY_PATH"));
  for (const std::string& entry : plan.environment.strings()) {
    EXPECT_FALSE(entry.starts_with("ISTHMUS_KEPT")) << entry;
  }
}

TEST(Exec, APathOfThePartComesLast) {
  RankSetup kept = setup();
  kept.keep_paths = true;
  kept.parts[0].env["PATH"] = "/part";
  Environment environment;
  set_rank_environment(kept, environment);
  EXPECT_EQ(plan_rank({0, false, {"p"}}, environment).environment.get("PATH"), "/part");
}

TEST(Exec, RanksLearnTheirPlaceInTheWorld) {
  RankSetup placed = setup();
  placed.world_size = 20;
  placed.local_first = 3;
  placed.parts[1].appnum = 4;
  Environment environment;
  set_rank_environment(placed, environment);
  environment.set("PMI_RANK", "2");
  environment.set("MPI_LOCALRANKID", "1");
  const RankPlan plan = plan_rank({1, false, {"p"}}, environment);
  EXPECT_EQ(plan.environment.get("ISTHMUS_RANK"), "10");
  EXPECT_EQ(plan.environment.get("ISTHMUS_SIZE"), "20");
  EXPECT_EQ(plan.environment.get("ISTHMUS_LOCAL_RANK"), "4");
  EXPECT_EQ(plan.environment.get("ISTHMUS_APPNUM"), "4");
  EXPECT_FALSE(plan.environment.get("ISTHMUS_LOCAL_FIRST"));
}

TEST(Exec, TheInnermostLauncherTellsTheRank) {
  Environment environment;
  EXPECT_THROW(native_rank(environment), Failure);
  environment.set("SLURM_PROCID", "0");
  EXPECT_EQ(native_rank(environment), 0);
  environment.set("PMI_RANK", "3");
  EXPECT_EQ(native_rank(environment), 3);
  environment.set("OMPI_COMM_WORLD_RANK", "5");
  EXPECT_EQ(native_rank(environment), 5);
  environment.set("OMPI_COMM_WORLD_RANK", "x");
  EXPECT_EQ(native_rank(environment), 3);
}

TEST(Exec, OpenMpiLearnsTheProgramsName) {
  Environment environment;
  set_rank_environment(setup(), environment);
  EXPECT_FALSE(plan_rank({0, false, {"p"}}, environment).environment.get("OMPI_COMMAND"));
  environment.set("OMPI_COMMAND", "isthmusd");
  environment.set("OMPI_ARGV", "exec --part 0 -- p");
  EXPECT_FALSE(plan_rank({0, false, {"p"}}, environment).environment.get("OMPI_ARGV"));
  const RankPlan plan = plan_rank({0, false, {"p", "a", std::string(300, 'b')}}, environment);
  EXPECT_EQ(plan.environment.get("OMPI_COMMAND"), "p");
  EXPECT_EQ(plan.environment.get("OMPI_ARGV"), "a " + std::string(253, 'b'));
}

TEST(Exec, TheRankKnowsWhereItsOutputGoes) {
  RankSetup to_files = setup();
  to_files.parts[0].env = {{"ISTHMUS_OUTPUT", "out.%r"}, {"ISTHMUS_SHOW_RANK", "1"}};
  Environment environment;
  set_rank_environment(to_files, environment);
  environment.set("PMI_RANK", "1");
  const RankPlan plan = plan_rank({0, false, {"p"}}, environment);
  EXPECT_EQ(plan.output_file, "out.%r");
  EXPECT_EQ(plan.error_file, "");
  EXPECT_TRUE(plan.show_rank);
  EXPECT_EQ(plan.world_rank, 9);
  EXPECT_FALSE(plan.environment.get("ISTHMUS_OUTPUT"));
  EXPECT_FALSE(plan.environment.get("ISTHMUS_SHOW_RANK"));
}

TEST(RankOutput, NamesOfFiles) {
  const RankIdentity who{12, "n1", "isthmus-ab"};
  EXPECT_EQ(file_name("run.%r", who), "run.12");
  EXPECT_EQ(file_name("%j/%h-%r.%%r%", who), "isthmus-ab/n1-12.%r%");
  EXPECT_EQ(file_name("%x", who), "%x");
}

TEST(RankOutput, AFileThatCannotBeWrittenIsNamed) {
  try {
    redirect(99, "/no/such/folder/x", {3, "n1", "j"});
    FAIL();
  } catch (const Failure& failure) {
    EXPECT_STREQ(failure.what(),
                 "the output file '/no/such/folder/x' cannot be written on n1: No such file or "
                 "directory");
  }
}

TEST(LineTagger, TagsEveryLineHoweverItIsCut) {
  const std::string text = "one\n\ntwo\nthree";
  for (std::size_t step = 1; step <= text.size(); ++step) {
    LineTagger tagger("[1] ");
    std::string got;
    for (std::size_t at = 0; at < text.size(); at += step) {
      const std::string ready = tagger.take(std::string_view(text).substr(at, step));
      EXPECT_TRUE(ready.empty() || ready.back() == '\n') << "only whole lines";
      got += ready;
    }
    EXPECT_EQ(got + tagger.finish(), "[1] one\n[1] \n[1] two\n[1] three\n");
    EXPECT_EQ(tagger.finish(), "");
  }
}

TEST(LineTagger, LongLinesAreNotHeldWithoutEnd) {
  LineTagger tagger("> ");
  const std::string piece(LineTagger::kMaxHeld, 'x');
  EXPECT_EQ(tagger.take(piece), "> " + piece);
  EXPECT_EQ(tagger.take("end\nnext\n"), "end\n> next\n");
}

}  // namespace
}  // namespace isthmus::daemon
