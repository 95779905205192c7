#include "daemon/service/audit.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>

#include "daemon/host/failure.hpp"

namespace isthmus::daemon {
namespace {

constexpr int kMostRefusals = 20;       // a second
constexpr std::size_t kMostText = 120;  // of each value in a line about strangers

std::string text_of(std::time_t now) {
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec);
}

}  // namespace

AuditLog::AuditLog(std::string file) : file_(std::move(file)) { reopen(); }

void AuditLog::reopen() {
  if (file_.empty()) return;
  FileDescriptor opened(::open(file_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600));
  if (!opened) {
    throw Failure("the audit log " + file_ + " cannot be written: " + std::strerror(errno));
  }
  opened_ = std::move(opened);
}

void AuditLog::write(nlohmann::json event) {
  const std::time_t now = std::time(nullptr);
  if (now != second_) {
    if (refusals_ > kMostRefusals) {
      put({{"event", "refused"}, {"left out", refusals_ - kMostRefusals}});
    }
    second_ = now;
    refusals_ = 0;
  }
  if (event.value("event", "") == "refused" && ++refusals_ > kMostRefusals) return;
  put(std::move(event));
}

void AuditLog::refused_stranger(nlohmann::json event) {
  if (auto line = strangers_.add(std::move(event))) put(std::move(*line));
}

void AuditLog::tick(bool all) {
  if (auto line = all ? strangers_.rest() : strangers_.due()) put(std::move(*line));
}

void AuditLog::put(log::RareLines<nlohmann::json>::Line line) {
  for (auto& value : line.last) {
    if (value.is_string()) value = value.get<std::string>().substr(0, kMostText);
  }
  if (line.count > 1) line.last["count"] = line.count;
  put(std::move(line.last));
}

void AuditLog::put(nlohmann::json event) {
  event["time"] = text_of(std::time(nullptr));
  const std::string line =
      event.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace) + "\n";
  const int file = file_.empty() ? STDERR_FILENO : opened_.get();
  // A full disk must not stop the service.
  [[maybe_unused]] const ssize_t written = ::write(file, line.data(), line.size());
}

}  // namespace isthmus::daemon
