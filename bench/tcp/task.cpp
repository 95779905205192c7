#include "tcp/task.hpp"

#include <charconv>
#include <map>
#include <sstream>
#include <stdexcept>
#include <vector>

namespace isthmus::tcpbench {
namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30;

[[noreturn]] void wrong(const std::string& text) {
  throw std::invalid_argument(
      "\"" + text +
      "\" is no task; tasks are pingpong:BYTES:ROUNDS, {stream,bidirectional,rate}:BYTES:ROUNDS:"
      "SECONDS and loaded:BYTES:TOTAL");
}

template <class Number>
Number number(const std::string& word, const std::string& text, Number least, Number most) {
  Number value{};
  const char* end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data(), end, value);
  if (error != std::errc{} || stop != end || !(value >= least && value <= most)) wrong(text);
  return value;
}

}  // namespace

Task parse_task(const std::string& text) {
  static const std::map<std::string, Figure> figures{{"pingpong", Figure::Pingpong},
                                                     {"stream", Figure::Stream},
                                                     {"bidirectional", Figure::Bidirectional},
                                                     {"rate", Figure::Rate},
                                                     {"loaded", Figure::Loaded}};
  std::vector<std::string> words;
  std::istringstream in(text);
  for (std::string word; std::getline(in, word, ':');) words.push_back(word);
  const auto found = figures.find(words.empty() ? "" : words[0]);
  if (found == figures.end()) wrong(text);
  Task task;
  task.text = text;
  task.figure = found->second;
  const bool timed = task.figure != Figure::Pingpong && task.figure != Figure::Loaded;
  if (words.size() != (timed ? 4U : 3U)) wrong(text);
  task.bytes = number<std::uint64_t>(words[1], text, 1, kMostBytes);
  if (task.figure == Figure::Loaded) {
    task.total = number<std::uint64_t>(words[2], text, 1, std::uint64_t{1} << 50);
  } else {
    task.rounds = number<int>(words[2], text, 1, 1000000);
  }
  if (timed) task.seconds = number<double>(words[3], text, 0.0, 3600.0);
  return task;
}

}  // namespace isthmus::tcpbench
