#include "daemon/launch/program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "daemon/host/failure.hpp"
#include "daemon/host/runtime_dir.hpp"
#include "daemon/launch/elf_file.hpp"
#include "daemon/launch/find_launcher.hpp"

namespace isthmus::daemon {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// Builds small programs and libraries in a folder of its own.
class ProgramTest : public testing::Test {
 protected:
  ProgramTest() : folder_("program-test") {
    site_.host = "here";
    site_.cluster = "east";
    site_.directory = folder_.path();
    site_.environment = Environment::inherited();
  }

  std::string path(const std::string& name) const { return folder_.path() + "/" + name; }

  std::string write(const std::string& name, const std::string& text, mode_t mode = 0755) {
    std::ofstream(path(name), std::ios::binary) << text;
    EXPECT_EQ(chmod(path(name).c_str(), mode), 0);
    return path(name);
  }

  void compile(const std::string& name, const std::string& source, const std::string& flags) {
    write(name + ".c", source, 0644);
    const std::string command =
        "cd '" + folder_.path() + "' && cc " + name + ".c -o " + name + " " + flags;
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
  }

  // A library that calls itself an MPI, and a program that is linked with it.
  void make_mpi(const std::string& library, const std::string& source) {
    compile(library, "int MPI_Send; int MPI_Init(void) { return 0; }\n" + source,
            "-shared -fPIC -Wl,-soname," + library);
    compile("app", "int MPI_Init(void); int main(void) { return MPI_Init(); }",
            "'" + path(library) + "' -Wl,-rpath,'" + folder_.path() + "'");
  }

  std::string failure(const std::vector<std::string>& argv) {
    try {
      inspect_program(argv, site_);
    } catch (const Failure& failure) {
      return failure.what();
    }
    return "none";
  }

  RuntimeDir folder_;
  Site site_;
};

TEST_F(ProgramTest, TheLibraryTellsTheAbiAndItsVersion) {
  struct Case {
    const char* library;
    const char* source;
    const char* abi;
    const char* exports;
  };
  const Case cases[] = {
      {"libmpi.so.40", "int ompi_mpi_comm_world;", "ompi", "ompi-4.1"},
      {"libmpi.so.40", "int ompi_mpi_comm_world; int MPI_Session_init;", "ompi", "ompi-5.0"},
      {"libmpich.so.12", "int MPI_Session_init;", "mpich", "mpich-4.0"},
      {"libmpi.so.12", "int MPIR_Err_return_comm; int MPI_Buffer_flush;", "mpich", "mpich-5.0"},
      {"libmpi_abi.so.1", "", "mpiabi", "mpiabi-5.0"},
      {"libmpi_abi.so.0", "", "mpiabi", "mpiabi-5.0"},
  };
  for (const Case& one : cases) {
    make_mpi(one.library, one.source);
    const Program program = inspect_program({"./app"}, site_);
    ASSERT_TRUE(program.library) << one.library;
    EXPECT_EQ(program.library->path, path(one.library));
    EXPECT_EQ(program.library->abi, one.abi);
    EXPECT_EQ(program.library->exports, one.exports);
  }
}

TEST_F(ProgramTest, LibrariesOfUnknownAbi) {
  make_mpi("libmpi.so.20", "int ompi_mpi_comm_world;");
  EXPECT_THAT(failure({"./app"}), HasSubstr("libmpi.so.20' has an ABI that Isthmus does not"));
  // The number of MPICH's, but Open MPI 1.10's library.
  make_mpi("libmpi.so.12", "int ompi_mpi_comm_world;");
  EXPECT_THAT(failure({"./app"}), HasSubstr("has an ABI that Isthmus does not know"));
}

// Wheels hold copies where there are links elsewhere: mpi4py loads Intel MPI's libmpi.so.
TEST_F(ProgramTest, TheNameThatALibraryGivesItself) {
  compile("libmpi.so", "int MPIR_Err_return_comm; int MPI_Init(void) { return 0; }",
          "-shared -fPIC -Wl,-soname,libmpi.so.12");
  const MpiLibrary library = identify_mpi_library(path("libmpi.so"));
  EXPECT_EQ(library.path, path("libmpi.so"));
  EXPECT_EQ(library.abi, "mpich");
  EXPECT_EQ(library.exports, "mpich-4.0");
  EXPECT_EQ(abi_of(path("libmpi.so")), "mpich");
  compile("libmpi.so", "int MPI_Init(void) { return 0; }", "-shared -fPIC");
  EXPECT_THROW(identify_mpi_library(path("libmpi.so")), Unwearable);
  EXPECT_EQ(abi_of(path("libmpi.so")), "");
}

TEST_F(ProgramTest, MissingMpiLibrary) {
  make_mpi("libmpi_abi.so.1", "");
  fs::remove(path("libmpi_abi.so.1"));
  EXPECT_THAT(failure({"./app"}), HasSubstr("the MPI library libmpi_abi.so.1 that "));
  EXPECT_THAT(failure({"./app"}), HasSubstr("is not found on here (cluster east)"));
}

TEST_F(ProgramTest, TheClustersLibraryPathCounts) {
  compile("libmpi.so.40", "int ompi_mpi_comm_world; int MPI_Init(void) { return 0; }",
          "-shared -fPIC -Wl,-soname,libmpi.so.40");
  compile("app", "int MPI_Init(void); int main(void) { return MPI_Init(); }", "libmpi.so.40");
  site_.environment.set("LD_LIBRARY_PATH", folder_.path());
  EXPECT_EQ(inspect_program({"./app"}, site_).library->path, path("libmpi.so.40"));
}

TEST_F(ProgramTest, BelowTheHomeFolder) {
  compile("app", "int main(void) { return 0; }", "");
  site_.environment.set("HOME", folder_.path());
  site_.directory = "/";
  EXPECT_EQ(find_program("~/app", site_), path("app"));
  EXPECT_EQ(with_home("~/app", site_.environment), path("app"));
  EXPECT_EQ(with_home("x/~/app", site_.environment), "x/~/app");
  EXPECT_THAT(failure({"~/none"}), HasSubstr("'~/none' is not found on here (cluster east)"));
}

TEST_F(ProgramTest, StaticPrograms) {
  compile("plain", "int main(void) { return 0; }", "-static");
  EXPECT_FALSE(inspect_program({"./plain"}, site_).library);
  compile("mpi", "int MPI_Init(void) { return 0; } int main(void) { return MPI_Init(); }",
          "-static");
  EXPECT_THAT(failure({"./mpi"}), HasSubstr("is statically linked"));
  // The C library shared, the MPI library not.
  compile("half", "int MPI_Init(void) { return 0; } int main(void) { return MPI_Init(); }", "");
  EXPECT_THAT(failure({"./half"}), HasSubstr("linked in statically"));
}

TEST_F(ProgramTest, AnotherArchitecture) {
  compile("app", "int main(void) { return 0; }", "");
  std::fstream file(path("app"), std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(18);  // e_machine
  file.write("\xf3\x00", 2);
  file.close();
  EXPECT_THAT(failure({"./app"}), HasSubstr("is built for RISC-V; here (cluster east) is "));
}

TEST_F(ProgramTest, ScriptsAreWhatTheirInterpreterIs) {
  make_mpi("libmpi.so.40", "int ompi_mpi_comm_world;");
  write("direct", "#!" + path("app") + " -x\n");
  EXPECT_EQ(inspect_program({"./direct"}, site_).library->abi, "ompi");
  write("by-env", "#!/usr/bin/env -S app\n");
  site_.environment.set("PATH", folder_.path() + ":/usr/bin:/bin");
  EXPECT_EQ(inspect_program({"by-env"}, site_).library->abi, "ompi");
  write("shell", "#!/bin/sh\nexec ./app\n");
  EXPECT_TRUE(inspect_program({"shell"}, site_).library);
  write("plain", "exec ./app\n");
  EXPECT_TRUE(inspect_program({"plain"}, site_).library);
  write("lost", "#!/no/such/interpreter\n");
  EXPECT_THAT(failure({"./lost"}), HasSubstr("'/no/such/interpreter' is not found"));
  write("loop", "#!" + path("loop") + "\n");
  EXPECT_FALSE(inspect_program({"./loop"}, site_).library);
}

TEST_F(ProgramTest, PythonIsAskedForMpi4py) {
  make_mpi("libmpi.so.40", "int ompi_mpi_comm_world;");
  // Stands for a Python: what the question prints matters, not how it is asked.
  write("python3",
        "#!/bin/sh\necho mapped /lib/libc.so.6\necho mapped " + path("libmpi.so.40") + "\n");
  EXPECT_EQ(inspect_program({"./python3", "x.py"}, site_).library->path, path("libmpi.so.40"));
  write("script.py", "#!/usr/bin/env python3\n");
  site_.environment.set("PATH", folder_.path() + ":/usr/bin:/bin");
  EXPECT_EQ(inspect_program({"./script.py"}, site_).library->abi, "ompi");
  write("python3",
        "#!/bin/sh\necho \"ModuleNotFoundError: No module named 'mpi4py'\" >&2\nexit 1\n");
  EXPECT_FALSE(inspect_program({"./python3"}, site_).library);
  write("python3", "#!/bin/sh\necho 'ImportError: libmpi.so.40: cannot open' >&2\nexit 1\n");
  EXPECT_THAT(failure({"./python3"}), HasSubstr("cannot import mpi4py"));
  EXPECT_THAT(failure({"./python3"}), HasSubstr("libmpi.so.40: cannot open"));
}

TEST_F(ProgramTest, NotThereOrNotRunnable) {
  write("data", "x", 0644);
  EXPECT_THAT(failure({"nowhere"}), HasSubstr("'nowhere' is not found on here (cluster east)"));
  EXPECT_THAT(failure({"./data"}), HasSubstr("is not executable on here"));
  write("hello.c", "int main() {}", 0644);
  EXPECT_THAT(failure({"./hello.c"}), HasSubstr("is not executable on here"));
  EXPECT_THAT(failure({folder_.path()}), HasSubstr("is a directory"));
  EXPECT_THAT(failure({""}), HasSubstr("empty"));
}

TEST_F(ProgramTest, DamagedElfFilesAreReadWithoutHarm) {
  compile("app", "int MPI_Init(void) { return 0; } int main(void) { return 0; }", "");
  std::ifstream file(path("app"), std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(file)), {});
  // The header, the program headers and the tail with the section headers, byte by byte.
  const auto try_with = [&](std::size_t at, char value) {
    std::string damaged = whole;
    damaged[at] = value;
    write("damaged", damaged);
    if (const auto elf = ElfFile::open(path("damaged"))) {
      elf->machine();
      elf->interpreter();
      elf->exports("MPI_Init");
      elf->contains("MPI_Init");
    }
  };
  for (std::size_t at = 0; at < 1000; at += 9) try_with(at, static_cast<char>(0xff));
  for (std::size_t at = whole.size() - 1800; at < whole.size(); at += 13) {
    try_with(at, static_cast<char>(0x7f));
  }
  for (std::size_t size = 0; size < whole.size(); size += 997) {
    write("damaged", whole.substr(0, size));
    if (const auto elf = ElfFile::open(path("damaged"))) elf->contains("MPI_Init");
  }
  EXPECT_TRUE(ElfFile::open(path("app"))->contains("MPI_Init"));
  EXPECT_FALSE(ElfFile::open(path("app"))->contains("MPI_Ini"));
  EXPECT_FALSE(ElfFile::open(path("app"))->exports("MPI_Init"));
}

TEST_F(ProgramTest, StubsAndFaces) {
  const MpiLibrary library{"/x/libmpi.so.40", "ompi", "ompi-4.1"};
  write("libisthmus-face-mpich.so", "");
  try {
    find_stub(library, folder_.path());
    FAIL();
  } catch (const Failure& failure) {
    EXPECT_THAT(failure.what(), HasSubstr("this Isthmus was built for: mpich"));
  }
  write("libisthmus-face-ompi.so", "");
  EXPECT_THROW(find_stub(library, folder_.path()), Failure);
  write("libisthmus-ompi-4.1.so", "");
  EXPECT_EQ(find_stub(library, folder_.path()), path("libisthmus-ompi-4.1.so"));
}

TEST_F(ProgramTest, ALauncherThatFailsLeavesTheTurnToTheNext) {
  fs::create_directories(path("bin"));
  write("bin/mpirun", "#!/bin/sh\necho 'no vars.sh' >&2; exit 2\n");
  const MpiLibrary library{path("lib/libmpi.so.12"), "mpich", "mpich-4.0"};
  const LaunchChoice here{{path(""), "mpich", std::nullopt}, ""};
  try {
    find_launcher(here, library, site_);
    ADD_FAILURE() << "found a launcher";
  } catch (const Failure& failure) {
    EXPECT_THAT(failure.what(), HasSubstr("bin/mpirun --version' failed on here: \"no vars.sh\""));
  }
  write("bin/mpiexec", "#!/bin/sh\necho 'Intel(R) MPI Library for Linux* OS'\n");
  for (const LaunchChoice& choice : {here, LaunchChoice{}}) {
    const Launcher found = find_launcher(choice, library, site_);
    EXPECT_EQ(found.kind, LauncherKind::Hydra);
    EXPECT_THAT(found.path, testing::EndsWith("/bin/mpiexec"));
  }
}

TEST(MpiLibrary, Prefixes) {
  EXPECT_EQ(prefix_of_library("/opt/x/lib/libmpi.so.40"), "/opt/x");
  EXPECT_EQ(prefix_of_library("/opt/x/lib64/libmpi.so.40"), "/opt/x");
  EXPECT_EQ(prefix_of_library("/opt/x/lib/release/libmpi.so.12"), "/opt/x");
  EXPECT_EQ(prefix_of_library("/opt/x/libmpi.so.12"), "");
}

TEST(MpiLibrary, Names) {
  EXPECT_TRUE(is_mpi_library_name("libmpi.so.40"));
  EXPECT_TRUE(is_mpi_library_name("libmpich.so"));
  EXPECT_TRUE(is_mpi_library_name("libmpi_abi.so.1"));
  EXPECT_FALSE(is_mpi_library_name("libmpi_mpifh.so.40"));
  EXPECT_FALSE(is_mpi_library_name("libmpichcxx.so.12"));
  EXPECT_FALSE(is_mpi_library_name("libmpi"));
}

}  // namespace
}  // namespace isthmus::daemon
