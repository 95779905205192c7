// isthmus-wanbox: a wide-area link between two network namespaces.
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <exception>
#include <string>
#include <utility>

#include "lab/tun.hpp"
#include "lab/wan_box.hpp"

namespace {

std::atomic<bool> stop{false};
static_assert(std::atomic<bool>::is_always_lock_free);

void on_signal(int) { stop = true; }

// "NETNS:INTERFACE"; the last colon counts.
std::pair<std::string, std::string> split(const std::string& end) {
  const std::size_t colon = end.rfind(':');
  if (colon == std::string::npos) return {"", end};
  return {end.substr(0, colon), end.substr(colon + 1)};
}

bool become_real_time(int priority) {
  sched_param parameters{};
  parameters.sched_priority = priority;
  return sched_setscheduler(0, SCHED_FIFO, &parameters) == 0 &&
         mlockall(MCL_CURRENT | MCL_FUTURE) == 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("A wide-area link between two network namespaces.", "isthmus-wanbox");
  std::string a, b, link = "{}";
  int priority = 0;
  unsigned megabytes = 1024;
  isthmus::lab::WanBoxOptions options;
  app.add_option("--a", a, "One end, NETNS:INTERFACE; NETNS is a file such as /run/netns/x")
      ->required();
  app.add_option("--b", b, "The other end")->required();
  app.add_option("--link", link,
                 "Settings as JSON: {\"both\"|\"ab\"|\"ba\": {\"delay\": s, \"jitter\": s, "
                 "\"rate\": bit/s, \"queue\": bytes, \"loss\": probability, "
                 "\"duplicate\": probability, \"corrupt\": bytes, \"reorder\": bool, "
                 "\"up\": bool, \"overhead\": bytes, \"open\": [addresses]}}");
  app.add_option("--control", options.control, "Path of a unix socket to make");
  app.add_option("--priority", priority, "Real-time priority; 0 is none")->check(CLI::Range(0, 99));
  app.add_option("--memory", megabytes, "Most MiB of packets on their way")
      ->check(CLI::Range(1, 1 << 20));
  app.add_option("--seed", options.seed, "Of loss and jitter");
  CLI11_PARSE(app, argc, argv);

  try {
    options.settings = isthmus::lab::changed({}, nlohmann::json::parse(link));
    options.memory = std::size_t{megabytes} << 20;
    struct sigaction action {};
    action.sa_handler = on_signal;
    for (const int number : {SIGTERM, SIGINT}) sigaction(number, &action, nullptr);
    prctl(PR_SET_TIMERSLACK, 1UL);
    const auto [netns_a, name_a] = split(a);
    const auto [netns_b, name_b] = split(b);
    auto tun_a = isthmus::lab::open_tun(netns_a, name_a);
    auto tun_b = isthmus::lab::open_tun(netns_b, name_b);
    isthmus::lab::WanBox box(std::move(tun_a), std::move(tun_b), options);
    const bool real_time = priority > 0 && become_real_time(priority);
    std::puts(real_time ? "ready, real time" : "ready");
    std::fflush(stdout);
    box.run(stop);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "isthmus-wanbox: %s\n", error.what());
    return 1;
  }
  return 0;
}
