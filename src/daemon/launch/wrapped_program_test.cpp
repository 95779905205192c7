#include "daemon/launch/wrapped_program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "daemon/host/runtime_dir.hpp"

namespace isthmus::daemon {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;

TEST(PlainWords, AreThoseThatNoShellExpands) {
  EXPECT_THAT(plain_words("#!/bin/sh\n# ./not this\ncd x && APP=./app\n./b \"$1\" >out; `c` $D/e "
                          "*.f\nexec ./a#b"),
              ElementsAre("cd", "x", "APP", "./app", "./b", "out", "c", "exec", "./a#b"));
}

// Programs of two libraries that call themselves MPIs, in a folder of its own.
class Wrapped : public testing::Test {
 protected:
  Wrapped() : folder_("wrapped-test") {
    site_.directory = folder_.path();
    site_.environment = Environment::inherited();
    site_.environment.set("PATH", folder_.path() + "/bin:/usr/bin:/bin");
    make("libmpich.so.12", "mpich-app", "int MPI_Send;");
    make("libmpi.so.40", "ompi-app", "int MPI_Send; int ompi_mpi_comm_world;");
  }

  void make(const std::string& library, const std::string& program, const std::string& symbols) {
    std::ofstream(path("lib.c")) << symbols << " int MPI_Init(void) { return 0; }";
    std::ofstream(path("app.c")) << "int MPI_Init(void); int main(void) { return MPI_Init(); }";
    const std::string command = "cd '" + folder_.path() + "' && cc -shared -fPIC lib.c -o " +
                                library + " -Wl,-soname," + library + " && cc app.c ./" + library +
                                " -o " + program + " -Wl,-rpath,'" + folder_.path() + "'";
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
  }

  std::string script(const std::string& name, const std::string& text) {
    fs::create_directories(fs::path(path(name)).parent_path());
    std::ofstream(path(name)) << text;
    EXPECT_EQ(chmod(path(name).c_str(), 0755), 0);
    return name;
  }

  std::string path(const std::string& name) const { return folder_.path() + "/" + name; }

  // The ABI that is found; "none".
  std::string abi(const std::vector<std::string>& argv) {
    const auto library = inspect_program(argv, site_).library;
    return library ? library->abi : "none";
  }

  RuntimeDir folder_;
  Site site_;
};

TEST_F(Wrapped, ByALaterWord) {
  EXPECT_EQ(abi({"env", "X=1", "./mpich-app"}), "mpich");
  EXPECT_EQ(abi({"nice", "-n", "5", "./ompi-app", "./mpich-app"}), "ompi");
  EXPECT_EQ(abi({"env", "X=1", "nice", "./mpich-app"}), "mpich");
  EXPECT_EQ(abi({"sh", "-c", "cd . && exec ./mpich-app"}), "mpich");
  EXPECT_EQ(abi({"echo", "mpich-app"}), "none") << "it is not on PATH";
}

TEST_F(Wrapped, ByTheTextOfAScript) {
  script("run.sh", "#!/bin/sh\n# ./ompi-app\nAPP=./mpich-app\nexec $APP \"$@\"\n");
  EXPECT_EQ(abi({"./run.sh", "x"}), "mpich");
  script("plain.sh", "./ompi-app\n");
  EXPECT_EQ(abi({"./plain.sh"}), "ompi");
  script("outer.sh", "#!/bin/bash\n./run.sh\n");
  EXPECT_EQ(abi({"./outer.sh"}), "mpich");
  EXPECT_EQ(abi({"env", "./outer.sh"}), "mpich");
}

TEST_F(Wrapped, FromTheFolderOfTheScript) {
  script("sub/run.sh", "#!/bin/sh\ncd \"$(dirname \"$0\")\"\n./app\n");
  fs::copy(path("mpich-app"), path("sub/app"));
  EXPECT_EQ(abi({"sub/run.sh"}), "mpich");
}

TEST_F(Wrapped, NotWhereProgramsDiffer) {
  script("both.sh", "#!/bin/sh\nif x; then ./mpich-app; else ./ompi-app; fi\n");
  EXPECT_EQ(abi({"./both.sh"}), "none");
  EXPECT_EQ(abi({"./both.sh", "./ompi-app"}), "ompi") << "the command line is plainer";
}

TEST_F(Wrapped, ScriptsThatNameThemselvesEnd) {
  script("again.sh", "#!/bin/sh\n./again.sh\n");
  EXPECT_EQ(abi({"./again.sh"}), "none");
}

}  // namespace
}  // namespace isthmus::daemon
