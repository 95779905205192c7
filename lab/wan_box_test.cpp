// The driver, over socket pairs in place of network devices.
#include "lab/wan_box.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <filesystem>
#include <thread>

#include "lab/testing.hpp"

namespace isthmus::lab {
namespace {

using nlohmann::json;

struct Pair {
  Pair() {
    int fds[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, fds), 0);
    ours = FileDescriptor(fds[0]);
    boxes = FileDescriptor(fds[1]);
  }
  FileDescriptor ours, boxes;
};

class WanBoxTest : public testing::Test {
 protected:
  void start(const std::string& link) {
    directory_ = std::filesystem::temp_directory_path() /
                 ("isthmus-wanbox-" + std::to_string(getpid()) + "-" +
                  testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::create_directory(directory_);
    WanBoxOptions options;
    options.settings = changed({}, json::parse(link));
    options.control = directory_ / "control";
    box_ = std::make_unique<WanBox>(std::move(a_.boxes), std::move(b_.boxes), options);
    thread_ = std::thread([this] { box_->run(stop_); });
    client_ = caller();
  }
  FileDescriptor caller() const {
    FileDescriptor made(socket(AF_UNIX, SOCK_STREAM, 0));
    const std::string path = directory_ / "control";
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(connect(made.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    return made;
  }
  void TearDown() override {
    stop_ = true;
    if (client_) (void)send(client_.get(), "\n", 1, MSG_NOSIGNAL);  // wakes it
    if (thread_.joinable()) thread_.join();
    box_.reset();
    EXPECT_TRUE(std::filesystem::is_empty(directory_));
    std::filesystem::remove_all(directory_);
  }

  json ask(const std::string& line) {
    const std::string sent = line + "\n";
    EXPECT_EQ(send(client_.get(), sent.data(), sent.size(), 0), static_cast<ssize_t>(sent.size()));
    std::string text;
    char c = 0;
    while (wait_for(client_) && recv(client_.get(), &c, 1, 0) == 1 && c != '\n') text += c;
    return json::parse(text, nullptr, false);
  }
  static bool wait_for(const FileDescriptor& fd, int milliseconds = 10'000) {
    pollfd polled{fd.get(), POLLIN, 0};
    return poll(&polled, 1, milliseconds) == 1;
  }
  static void put(const FileDescriptor& fd, const Frame& frame) {
    EXPECT_EQ(write(fd.get(), frame.data(), frame.size()), static_cast<ssize_t>(frame.size()));
  }
  static Frame get(const FileDescriptor& fd) {
    Frame frame(kMaxFrame);
    EXPECT_TRUE(wait_for(fd));
    const ssize_t n = read(fd.get(), frame.data(), frame.size());
    frame.resize(n < 0 ? 0 : static_cast<std::size_t>(n));
    return frame;
  }

  Pair a_, b_;
  std::filesystem::path directory_;
  std::atomic<bool> stop_{false};
  std::unique_ptr<WanBox> box_;
  std::thread thread_;
  FileDescriptor client_;
};

TEST_F(WanBoxTest, CarriesFramesOfAllSizesBothWays) {
  start(R"({"both": {"delay": 0.001}})");
  const std::vector<Frame> frames{tcp_frame(0), tcp_frame(1448),
                                  tcp_frame(20'000, {.segment = 1448}),
                                  tcp_frame(60'000, {.segment = 1448})};
  for (const Frame& frame : frames) {
    put(a_.ours, frame);
    EXPECT_EQ(get(b_.ours), frame);
    put(b_.ours, frame);
    EXPECT_EQ(get(a_.ours), frame);
  }
  const json state = ask(R"({"op": "get"})");
  EXPECT_EQ(state["ab"]["counters"]["packets"], 4);
  EXPECT_EQ(state["ba"]["counters"]["delivered"], 1 + 1 + 14 + 42);
  EXPECT_GT(state["ab"]["late"]["most"], 0.0);
  const json traffic = ask(R"({"op": "traffic", "way": "ba", "since": 0})");
  std::uint64_t bytes = 0;
  for (const json& row : traffic["milliseconds"]) {
    EXPECT_LE(row[0], traffic["now"]);
    bytes += row[1].get<std::uint64_t>();
  }
  EXPECT_EQ(bytes, state["ba"]["counters"]["bytes"]);
}

TEST_F(WanBoxTest, IsCutAndRestoredWhileItRuns) {
  start("{}");
  EXPECT_EQ(ask(R"({"op": "set", "link": {"ab": {"up": false}}})")["ab"]["settings"]["up"], false);
  put(a_.ours, tcp_frame(1));
  while (ask(R"({"op": "get"})")["ab"]["counters"]["dropped_cut"] != 1) std::this_thread::yield();
  put(b_.ours, tcp_frame(2));  // the other direction is up
  EXPECT_EQ(get(a_.ours), tcp_frame(2));
  ask(R"({"op": "set", "link": {"ab": {"up": true}}})");
  put(a_.ours, tcp_frame(3));
  EXPECT_EQ(get(b_.ours), tcp_frame(3));
  EXPECT_EQ(ask(R"({"op": "reset"})")["ab"]["counters"]["dropped_cut"], 0);
}

TEST_F(WanBoxTest, WrongRequestsAreAnswered) {
  start("{}");
  for (const char* line : {"", "nonsense", "[]", "{}", R"({"op": "fly"})", R"({"op": "set"})",
                           R"({"op": "traffic", "way": "up"})",
                           R"({"op": "set", "link": {"ab": {"loss": 2}}})", "\"\xff\""}) {
    const json said = ask(line);
    EXPECT_EQ(said["ok"], false) << line;
    EXPECT_FALSE(said["error"].get<std::string>().empty()) << line;
  }
  EXPECT_EQ(ask(R"({"op": "get"})")["ab"]["settings"]["loss"], 0.0);
}

TEST_F(WanBoxTest, SilentCallersKeepNobodyOut) {
  start("{}");
  std::vector<FileDescriptor> silent;
  for (int i = 0; i < 200; ++i) silent.push_back(caller());
  client_ = caller();
  EXPECT_EQ(ask(R"({"op": "get"})")["ok"], true);
  char c = 0;
  EXPECT_TRUE(wait_for(silent.front()));
  EXPECT_EQ(recv(silent.front().get(), &c, 1, 0), 0);  // the oldest have gone
}

TEST_F(WanBoxTest, TheSocketIsItsOwnersAlone) {
  start("{}");
  struct stat found {};
  ASSERT_EQ(stat((directory_ / "control").c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0600U);
}

}  // namespace
}  // namespace isthmus::lab
