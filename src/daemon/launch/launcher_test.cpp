#include "daemon/launch/launcher.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "daemon/host/failure.hpp"
#include "daemon/launch/find_launcher.hpp"

namespace isthmus::daemon {
namespace {

using testing::ElementsAre;
using Words = std::vector<std::string>;

LaunchPlan one_part() {
  LaunchPlan plan;
  plan.parts = {{4, {"./app", "a b"}}};
  plan.isthmusd = "/i";
  plan.forwarded = {"ISTHMUS_SECRET"};
  return plan;
}

LaunchPlan two_parts() {
  LaunchPlan plan = one_part();
  plan.parts.push_back({2, {"other"}});
  return plan;
}

// The options between the launcher and what it starts.
Words options_of(LauncherKind kind, const std::string& bind_to, const std::string& map_by,
                 bool oversubscribed = false) {
  LaunchPlan plan = one_part();
  plan.forwarded.clear();
  plan.bind = false;  // which the user's wish overrides
  plan.bind_to = bind_to;
  plan.map_by = map_by;
  plan.oversubscribed = oversubscribed;
  Words words = launch_command({kind, "/m"}, plan);
  const bool srun = kind == LauncherKind::Srun;
  const auto first = std::find(words.begin(), words.end(), srun ? "--input=none" : "/m");
  const auto last = std::find(words.begin(), words.end(), srun ? "/i" : "-n");
  return {first + 1, last};
}

TEST(Launcher, BindingAndMapping) {
  using enum LauncherKind;
  for (const auto kind : {OpenMpi4, OpenMpi5, Hydra}) {
    const std::string dashes = kind == Hydra ? "-" : "--";
    EXPECT_THAT(options_of(kind, "core", ""), ElementsAre(dashes + "bind-to", "core"));
    EXPECT_THAT(options_of(kind, "none", ""), ElementsAre(dashes + "bind-to", "none"));
    const std::string socket = kind == OpenMpi5 ? "package" : "socket";
    EXPECT_THAT(options_of(kind, "socket", ""), ElementsAre(dashes + "bind-to", socket));
  }
  EXPECT_THAT(options_of(OpenMpi4, "core", "node"),
              ElementsAre("--map-by", "node", "--bind-to", "core"));
  EXPECT_THAT(options_of(OpenMpi5, "core", "socket"),
              ElementsAre("--map-by", "package", "--bind-to", "core"));
  EXPECT_THAT(options_of(Hydra, "core", "socket"),
              ElementsAre("-bind-to", "core", "-map-by", "socket"));
  EXPECT_THAT(options_of(Hydra, "", "node"), ElementsAre("-ppn", "1"));
  EXPECT_THAT(options_of(Srun, "core", "node"),
              ElementsAre("--cpu-bind=cores", "--distribution=cyclic"));
  EXPECT_THAT(options_of(Srun, "none", "core"),
              ElementsAre("--cpu-bind=none", "--distribution=block:block"));
}

TEST(Launcher, BindingMoreRanksThanCores) {
  using enum LauncherKind;
  EXPECT_THAT(
      options_of(OpenMpi4, "core", "node", true),
      ElementsAre("--oversubscribe", "--map-by", "node", "--bind-to", "core:overload-allowed"));
  EXPECT_THAT(
      options_of(OpenMpi5, "socket", "node", true),
      ElementsAre("--map-by", "node:OVERSUBSCRIBE", "--bind-to", "package:overload-allowed"));
  EXPECT_THAT(options_of(Srun, "socket", "", true),
              ElementsAre("--overcommit", "--cpu-bind=sockets"));
}

TEST(Launcher, BindingToPartsOfACoreAndMemory) {
  using enum LauncherKind;
  for (const auto kind : {OpenMpi4, OpenMpi5, Hydra}) {
    const std::string dashes = kind == Hydra ? "-" : "--";
    EXPECT_THAT(options_of(kind, "hwthread", ""), ElementsAre(dashes + "bind-to", "hwthread"));
    EXPECT_THAT(options_of(kind, "numa", ""), ElementsAre(dashes + "bind-to", "numa"));
  }
  EXPECT_THAT(options_of(Srun, "hwthread", ""), ElementsAre("--cpu-bind=threads"));
  EXPECT_THAT(options_of(Srun, "numa", ""), ElementsAre("--cpu-bind=ldoms"));
  EXPECT_THAT(options_of(Hydra, "core", "slot"), ElementsAre("-bind-to", "core"));
  EXPECT_THAT(options_of(Srun, "core", "slot"),
              ElementsAre("--cpu-bind=cores", "--distribution=block:block"));
}

TEST(Launcher, RanksPerNode) {
  using enum LauncherKind;
  const std::vector<std::pair<LauncherKind, Words>> wanted{
      {OpenMpi4, {"--map-by", "ppr:3:node"}},
      {OpenMpi5, {"--map-by", "ppr:3:node"}},
      {Hydra, {"-ppn", "3"}},
      {Srun, {"--ntasks-per-node=3"}},
  };
  for (const auto& [kind, options] : wanted) {
    LaunchPlan plan = one_part();
    plan.ranks_per_node = 3;
    const Words words = launch_command({kind, "/m"}, plan);
    EXPECT_NE(std::search(words.begin(), words.end(), options.begin(), options.end()), words.end());
    plan.hosts = {"a", "b", "c", "d"};
    const Words with_hosts = launch_command({kind, "/m"}, plan);
    if (kind == Srun) continue;
    EXPECT_THAT(with_hosts, testing::Contains("a:3,b:3,c:3,d:3"));
  }
}

TEST(Launcher, TemplatesTakeNoBinding) {
  LaunchPlan binding = one_part();
  binding.bind_to = "core";
  LaunchPlan mapping = one_part();
  mapping.map_by = "node";
  LaunchPlan dense = one_part();
  dense.ranks_per_node = 2;
  for (const LaunchPlan& plan : {binding, mapping, dense}) {
    EXPECT_THROW(launch_command({LauncherKind::Template, "x -n {n} {command}"}, plan), Failure);
  }
}

TEST(Launcher, OpenMpi4) {
  EXPECT_THAT(launch_command({LauncherKind::OpenMpi4, "/m"}, one_part()),
              ElementsAre("/m", "-x", "ISTHMUS_SECRET", "-n", "4", "/i", "exec", "--part", "0",
                          "--", "./app", "a b"));
  LaunchPlan plan = two_parts();
  plan.oversubscribed = true;
  EXPECT_THAT(launch_command({LauncherKind::OpenMpi4, "/m"}, plan),
              ElementsAre("/m", "--oversubscribe", "--bind-to", "none", "-x", "ISTHMUS_SECRET",
                          "-n", "4", "/i", "exec", "--part", "0", "--", "./app", "a b", ":", "-x",
                          "ISTHMUS_SECRET", "-n", "2", "/i", "exec", "--part", "1", "--", "other"));
}

TEST(Launcher, OpenMpi5) {
  LaunchPlan plan = one_part();
  plan.bind = false;
  EXPECT_THAT(launch_command({LauncherKind::OpenMpi5, "/m"}, plan),
              ElementsAre("/m", "--bind-to", "none", "-x", "ISTHMUS_SECRET", "-n", "4", "/i",
                          "exec", "--part", "0", "--", "./app", "a b"));
  plan.oversubscribed = true;
  const Words words = launch_command({LauncherKind::OpenMpi5, "/m"}, plan);
  EXPECT_THAT(Words(words.begin(), words.begin() + 5),
              ElementsAre("/m", "--map-by", ":OVERSUBSCRIBE", "--bind-to", "none"));
}

TEST(Launcher, Hydra) {
  EXPECT_THAT(launch_command({LauncherKind::Hydra, "/m"}, two_parts()),
              ElementsAre("/m", "-n", "4", "/i", "exec", "--part", "0", "--", "./app", "a b", ":",
                          "-n", "2", "/i", "exec", "--part", "1", "--", "other"));
}

TEST(Launcher, Srun) {
  LaunchPlan plan = one_part();
  plan.stdin_to_first = true;
  EXPECT_THAT(launch_command({LauncherKind::Srun, "/s"}, plan),
              ElementsAre("/s", "-n", "4", "--export=ALL", "--input=0", "/i", "exec", "--part", "0",
                          "--", "./app", "a b"));
  EXPECT_THAT(
      launch_command({LauncherKind::Srun, "/s"}, two_parts()),
      ElementsAre("/s", "-n", "6", "--export=ALL", "--input=none", "/i", "exec", "--by-rank"));
  EXPECT_THAT(launch_command({LauncherKind::Srun, "/s", "pmi2"}, plan),
              ElementsAre("/s", "-n", "4", "--export=ALL", "--input=0", "--mpi=pmi2", "/i", "exec",
                          "--part", "0", "--", "./app", "a b"));
  EXPECT_TRUE(by_rank({LauncherKind::Srun, "/s"}, two_parts()));
  EXPECT_FALSE(by_rank({LauncherKind::Srun, "/s"}, one_part()));
  EXPECT_FALSE(by_rank({LauncherKind::Hydra, "/s"}, two_parts()));
}

TEST(Launcher, Flux) {
  LaunchPlan plan = one_part();
  EXPECT_THAT(launch_command({LauncherKind::Flux, "/f"}, plan),
              ElementsAre("/f", "run", "-n", "4", "--input=/dev/null", "/i", "exec", "--part", "0",
                          "--", "./app", "a b"));
  plan.stdin_to_first = true;
  plan.hosts = {"a", "b"};
  plan.bind_to = "core";
  plan.map_by = "node";
  EXPECT_THAT(launch_command({LauncherKind::Flux, "/f", "", {"run", "-o", "pmi=pmix"}}, plan),
              ElementsAre("/f", "run", "-o", "pmi=pmix", "-n", "4", "--input=0", "-N", "2",
                          "--requires=hosts:a,b", "-o", "cpu-affinity=per-task", "--taskmap=cyclic",
                          "/i", "exec", "--part", "0", "--", "./app", "a b"));
  plan.map_by = "socket";
  EXPECT_THROW(launch_command({LauncherKind::Flux, "/f"}, plan), Failure);
  EXPECT_TRUE(by_rank({LauncherKind::Flux, "/f"}, two_parts()));
}

TEST(Launcher, OptionsOfTheUserComeFirst) {
  const Words options{"--het-group=1", "-N 2"};
  EXPECT_THAT(launch_command({LauncherKind::Srun, "/s", "pmi2", options}, one_part()),
              ElementsAre("/s", "--het-group=1", "-N 2", "-n", "4", "--export=ALL", "--input=none",
                          "--mpi=pmi2", "/i", "exec", "--part", "0", "--", "./app", "a b"));
  for (const LauncherKind kind :
       {LauncherKind::OpenMpi4, LauncherKind::OpenMpi5, LauncherKind::Hydra}) {
    const Words words = launch_command({kind, "/m", "", options}, one_part());
    EXPECT_THAT(Words(words.begin(), words.begin() + 3),
                ElementsAre("/m", "--het-group=1", "-N 2"));
  }
}

TEST(Launcher, HostsWithTheirShareOfTheRanks) {
  LaunchPlan plan = two_parts();  // 4 + 2 ranks
  plan.hosts = {"n1", "n2", "n3", "n4"};
  EXPECT_THAT(
      launch_command({LauncherKind::OpenMpi4, "/m"}, plan),
      ElementsAre("/m", "--host", "n1:2,n2:2,n3:2,n4:2", "-x", "ISTHMUS_SECRET", "-n", "4", "/i",
                  "exec", "--part", "0", "--", "./app", "a b", ":", "--host", "n1:2,n2:2,n3:2,n4:2",
                  "-x", "ISTHMUS_SECRET", "-n", "2", "/i", "exec", "--part", "1", "--", "other"));
  plan.parts.pop_back();
  EXPECT_THAT(launch_command({LauncherKind::Hydra, "/m"}, plan),
              ElementsAre("/m", "-hosts", "n1:1,n2:1,n3:1,n4:1", "-n", "4", "/i", "exec", "--part",
                          "0", "--", "./app", "a b"));
  EXPECT_THAT(launch_command({LauncherKind::Srun, "/s"}, plan),
              ElementsAre("/s", "-n", "4", "--export=ALL", "--input=none", "--nodelist",
                          "n1,n2,n3,n4", "/i", "exec", "--part", "0", "--", "./app", "a b"));
  EXPECT_THAT(
      launch_command({LauncherKind::Template, "f -w {hosts} {command}"}, plan),
      ElementsAre("f", "-w", "n1,n2,n3,n4", "/i", "exec", "--part", "0", "--", "./app", "a b"));
}

TEST(Launcher, TemplateWords) {
  EXPECT_THAT(
      launch_command({LauncherKind::Template, "flux run -n{n} {command} --"}, one_part()),
      ElementsAre("flux", "run", "-n4", "/i", "exec", "--part", "0", "--", "./app", "a b", "--"));
}

TEST(Launcher, TemplateInsideAWordIsQuotedForAShell) {
  EXPECT_THAT(
      launch_command({LauncherKind::Template, "ssh h 'cd /tmp; x -n {n} {command}'"}, one_part()),
      ElementsAre("ssh", "h", "cd /tmp; x -n 4 /i exec --part 0 -- ./app 'a b'"));
}

TEST(Launcher, TemplatesThatCannotWork) {
  for (const char* text : {"mpirun -n {n}", "", "{command}", "x '{command}"}) {
    EXPECT_THROW(launch_command({LauncherKind::Template, text}, one_part()), Failure) << text;
  }
}

TEST(Launcher, QuotingSurvivesAShellSplit) {
  for (const char* word : {"", "a b", "it's", "$HOME", "a\\b", "\"", "x;y", "plain-1.0/x"}) {
    EXPECT_THAT(split_words(shell_quoted(word)), ElementsAre(word)) << word;
  }
}

TEST(Launcher, RootIsAllowedOnlyToRoot) {
  Environment environment;
  prepare_environment({LauncherKind::OpenMpi4, "/m"}, one_part(), false, environment);
  EXPECT_FALSE(environment.get("OMPI_ALLOW_RUN_AS_ROOT"));
  prepare_environment({LauncherKind::Hydra, "/m"}, one_part(), true, environment);
  EXPECT_FALSE(environment.get("OMPI_ALLOW_RUN_AS_ROOT"));
  prepare_environment({LauncherKind::OpenMpi5, "/m"}, one_part(), true, environment);
  EXPECT_EQ(environment.get("OMPI_ALLOW_RUN_AS_ROOT"), "1");
  EXPECT_EQ(environment.get("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"), "1");
}

TEST(Launcher, CrowdedRanksYieldUnlessTheUserSaysOtherwise) {
  LaunchPlan plan = one_part();
  plan.oversubscribed = true;
  Environment environment;
  prepare_environment({LauncherKind::OpenMpi4, "/m"}, plan, false, environment);
  EXPECT_EQ(environment.get("OMPI_MCA_mpi_yield_when_idle"), "1");
  environment.set("OMPI_MCA_mpi_yield_when_idle", "0");
  prepare_environment({LauncherKind::OpenMpi4, "/m"}, plan, false, environment);
  EXPECT_EQ(environment.get("OMPI_MCA_mpi_yield_when_idle"), "0");
}

TEST(Launcher, OpenMpisOnOneHostHaveFoldersOfTheirOwnUnlessTheUserSaysOtherwise) {
  const auto folder = [](LauncherKind kind, const std::string& session_dir, Environment given) {
    LaunchPlan plan = one_part();
    plan.session_dir = session_dir;
    prepare_environment({kind, "/m"}, plan, false, given);
    return given.get("OMPI_MCA_orte_tmpdir_base");
  };
  EXPECT_EQ(folder(LauncherKind::OpenMpi4, "/run/job", {}), "/run/job");
  EXPECT_EQ(folder(LauncherKind::OpenMpi4, "", {}), std::nullopt);
  EXPECT_EQ(folder(LauncherKind::OpenMpi5, "/run/job", {}), std::nullopt);
  Environment own;
  own.set("OMPI_MCA_orte_tmpdir_base", "/scratch");
  EXPECT_EQ(folder(LauncherKind::OpenMpi4, "/run/job", own), "/scratch");
  Environment local;
  local.set("OMPI_MCA_orte_local_tmpdir_base", "/scratch");
  EXPECT_EQ(folder(LauncherKind::OpenMpi4, "/run/job", local), std::nullopt);
}

TEST(Launcher, KindsByTheirVersionTexts) {
  EXPECT_EQ(launcher_kind("mpirun.openmpi (OpenRTE) 4.1.4\n", "m"), LauncherKind::OpenMpi4);
  EXPECT_EQ(launcher_kind("mpirun (Open MPI) 4.0.3\n", "m"), LauncherKind::OpenMpi4);
  EXPECT_EQ(launcher_kind("mpirun (Open MPI) 5.0.11\n", "m"), LauncherKind::OpenMpi5);
  EXPECT_EQ(launcher_kind("prterun (PRRTE) 3.0.2\n", "m"), LauncherKind::OpenMpi5);
  EXPECT_EQ(launcher_kind("HYDRA build details:\n", "m"), LauncherKind::Hydra);
  EXPECT_EQ(launcher_kind("Intel(R) MPI Library for Linux* OS, Version 2021.5\n", "m"),
            LauncherKind::Hydra);
  EXPECT_EQ(launcher_kind("slurm 23.02.1\n", "srun"), LauncherKind::Srun);
  EXPECT_EQ(launcher_kind("commands:    \t\t0.60.0\nlibflux-core:\t\t0.60.0\n", "flux"),
            LauncherKind::Flux);
  EXPECT_THROW(launcher_kind("bash 5\n", "m"), Failure);
  EXPECT_THROW(launcher_kind("", "m"), Failure);
}

}  // namespace
}  // namespace isthmus::daemon
