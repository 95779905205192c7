#include "daemon/agent/alone.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/base/any_json.hpp"
#include "daemon/log/log.hpp"

namespace isthmus::daemon {
namespace {

using nlohmann::json;

FileDescriptor open_file(const std::string& path) {
  constexpr int kFlags = O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC;
  return FileDescriptor(::open(path.c_str(), kFlags, 0666));
}

// A full disk loses the rest.
void write_all(const FileDescriptor& file, std::string_view bytes) {
  while (file && !bytes.empty()) {
    const ssize_t count = ::write(file.get(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

// Requests that need no launcher succeed. Others get the error class of docs/control.md.
json reply_without_launcher(const json& request) {
  static const std::map<std::string, std::string> classes{
      {"spawn", "spawn"},     {"open", "port"},         {"accept", "port"}, {"connect", "port"},
      {"publish", "service"}, {"unpublish", "service"}, {"lookup", "name"}};
  const auto found = request.find("do");
  const std::string what =
      found != request.end() && found->is_string() ? found->get<std::string>() : "";
  if (what == "close" || what == "withdraw" || what == "profile") return json::object();
  const auto named = classes.find(what);
  return {{"error", named == classes.end() ? "other" : named->second},
          {"message", "the launcher of this run is lost, and '" + what +
                          "' needs it; the ranks that run go on without it"}};
}

}  // namespace

Alone::Alone(std::string name, const std::vector<std::string>& folders, Events events)
    : name_(std::move(name)), events_(std::move(events)) {
  for (const std::string& folder : folders) {
    out_ = open_file(folder + "/" + name_ + ".out");
    if (!out_) continue;
    folder_ = folder;
    err_ = open_file(folder + "/" + name_ + ".err");
    // Its launcher's end of standard error is gone.
    if (err_) ::dup2(err_.get(), STDERR_FILENO);
    return;
  }
}

void Alone::output(int fd, std::string_view bytes) { write_all(fd == 2 ? err_ : out_, bytes); }

void Alone::say(const std::string& sentence) {
  log::info("{}", sentence);
  write_all(err_, "isthmus: " + sentence + "\n");
}

void Alone::ended(int status) {
  if (folder_.empty()) return;
  write_all(open_file(folder_ + "/" + name_ + ".status"), std::to_string(status) + "\n");
}

void Alone::abort(int rank, int code, const std::string& text) {
  say(text.empty() ? "rank " + std::to_string(rank) + " called MPI_Abort" : text);
  const int status = code & 0xff;
  events_.end(status == 0 ? 1 : status);
}

void Alone::fault(const std::string& text, int code) {
  say(text);
  events_.end(code == 0 ? 1 : code);
}

void Alone::suspect(core::NodeId /*gateway*/, std::size_t cluster, const std::string& text) {
  say(text);
  events_.suspect(cluster);
}

void Alone::end(const std::string& why) {
  say(why + ": all ranks end (see surviving.md, \"Without the launcher\")");
  events_.end(1);
}

void Alone::parted(const std::string& run, const std::string& text) {
  say(text);
  events_.parted(run, text);
}

void Alone::ask(core::NodeId process, std::uint64_t number, const std::string& text) {
  const json request = core::parse_any(text);
  if (request.is_object()) {
    events_.answer(process, number, core::dump_any(reply_without_launcher(request)));
  }
}

}  // namespace isthmus::daemon
