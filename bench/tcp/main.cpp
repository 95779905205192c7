// isthmus-tcpbench: the figures of `isthmus bench p2p` over TCP, plain or with TLS, between two
// hosts.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <iostream>

#include "tcp/play.hpp"

namespace {

using namespace isthmus::tcpbench;

constexpr int kPatience = 30;  // seconds to connect, or to be connected to
constexpr std::size_t kMostToken = 64;

// Both ends read it from standard input, so that strangers at the port are turned away.
std::string read_token() {
  std::string token;
  char c = 0;
  while (token.size() < kMostToken && read(0, &c, 1) == 1 && c != '\n') token += c;
  if (token.empty()) throw std::runtime_error("no token came on standard input");
  token.resize(kMostToken, '.');
  return token;
}

// The purpose of a connection follows the token: over proxies the second may come first.
constexpr char kTalk = 't', kBulk = 'b';

struct Friend {
  Connection connection;
  char role;
};

Friend accept_friend(const Listener& listener, const std::string& token, bool tls) {
  while (true) {
    Connection connection = listener.accept(kPatience, 0);
    std::string said(kMostToken + 1, '\0');
    try {
      connection.receive(said.data(), said.size());
    } catch (const std::runtime_error&) {
      continue;
    }
    const char role = said.back();
    said.pop_back();
    if (said != token) continue;
    if (tls) connection.encrypt(true, token);
    return {std::move(connection), role};
  }
}

Pair accept_pair(const Listener& listener, const std::string& token, bool tls) {
  Friend first = accept_friend(listener, token, tls);
  Friend second = accept_friend(listener, token, tls);
  Friend& talk = first.role == kTalk ? first : second;
  Friend& bulk = first.role == kTalk ? second : first;
  if (talk.role != kTalk || bulk.role != kBulk) {
    throw std::runtime_error("the other end did not open one connection of each kind");
  }
  return {std::move(talk.connection), std::move(bulk.connection)};
}

// The place and the way to play tasks.
struct Setting {
  std::string host, port;
  std::vector<Task> tasks;
  bool tls = false;
};

Connection join_as(char role, const Setting& setting, const std::string& token) {
  Connection connection = connect_to(setting.host, setting.port, kPatience);
  const std::string said = token + role;
  connection.send(said.data(), said.size());
  if (setting.tls) connection.encrypt(false, token);
  return connection;
}

Pair join(const Setting& setting, const std::string& token) {
  Connection talk = join_as(kTalk, setting, token);
  return {std::move(talk), join_as(kBulk, setting, token)};
}

template <class Numbers>
void print_list(const char* name, const Numbers& numbers) {
  std::cout << ",\"" << name << "\":[";
  const char* between = "";
  for (const auto number : numbers) {
    std::cout << between << number;
    between = ",";
  }
  std::cout << "]";
}

void print(const Task& task, const Samples& samples) {
  std::cout << "{\"task\":\"" << task.text << "\",\"pairs\":1";
  print_list("seconds", samples.seconds);
  if (!samples.messages.empty()) print_list("messages", samples.messages);
  std::cout << "}" << std::endl;
}

void print_path(const PathFacts& facts) {
  std::cout << "{\"path\":{\"mtu\":" << facts.mtu << ",\"segment\":" << facts.segment
            << ",\"retransmitted\":" << facts.retransmitted << "}}" << std::endl;
}

// Each task opens its connections again, so that what congestion control has learned in one does
// not weigh on the next.
void serve(const Setting& setting) {
  const std::string token = read_token();
  const Listener listener(setting.host, setting.port);
  std::cout << "listening " << listener.port() << std::endl;
  for (const Task& task : setting.tasks) {
    play(task, accept_pair(listener, token, setting.tls), false);
  }
}

void play_all(const Setting& setting, bool with_path) {
  const std::string token = read_token();
  std::cout.precision(9);
  for (const Task& task : setting.tasks) {
    const Pair pair = join(setting, token);
    print(task, play(task, pair, true));
    if (with_path) print_path(pair.talk.facts());
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{
      "The figures of `isthmus bench p2p` over TCP. One end serves, the other plays; both "
      "are given the same tasks and, on standard input, the same line, by which they know each "
      "other.",
      "isthmus-tcpbench"};
  app.set_version_flag("--version", "isthmus-tcpbench " ISTHMUS_VERSION);
  app.require_subcommand(1);
  Setting setting;
  std::vector<std::string> texts;
  const auto add = [&](const char* name, const char* what) {
    CLI::App* command = app.add_subcommand(name, what);
    command->add_option("host", setting.host, "Name or address")->required();
    command->add_option("port", setting.port, "Port; 0 to serve at any")->required();
    command->add_option("tasks", texts, "Such as pingpong:8:200")->required();
    command->add_flag("--tls", setting.tls, "Encrypt, at both ends; not 'bidirectional'");
    return command;
  };
  const CLI::App* server = add("serve", "Listen, and print the port as 'listening PORT'.");
  bool with_path = false;
  add("play", "Connect, and print a line of JSON for each task.")
      ->add_flag("--path", with_path, "After each, what the kernel knows of the path");
  CLI11_PARSE(app, argc, argv);
  std::signal(SIGPIPE, SIG_IGN);
  try {
    for (const std::string& text : texts) setting.tasks.push_back(parse_task(text));
    if (server->parsed()) {
      serve(setting);
    } else {
      play_all(setting, with_path);
    }
  } catch (const std::exception& error) {
    std::cerr << "isthmus-tcpbench: " << error.what() << std::endl;
    return 1;
  }
  return 0;
}
