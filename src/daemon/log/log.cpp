#include "daemon/log/log.hpp"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>

#include "daemon/host/failure.hpp"

namespace isthmus::daemon::log {
namespace {

std::unique_ptr<spdlog::logger> logger;

spdlog::level::level_enum spdlog_level(Level level) {
  switch (level) {
    case Level::Off:
      return spdlog::level::off;
    case Level::Warn:
      return spdlog::level::warn;
    case Level::Info:
      return spdlog::level::info;
    case Level::Debug:
      return spdlog::level::debug;
  }
  return spdlog::level::off;
}

}  // namespace

Level parse_level(std::string_view text) {
  if (text.empty() || text == "off") return Level::Off;
  if (text == "warn") return Level::Warn;
  if (text == "info") return Level::Info;
  if (text == "debug") return Level::Debug;
  throw Failure("ISTHMUS_LOG is '" + std::string(text.substr(0, 60)) +
                "', which is not a level; levels are off, warn, info, debug");
}

void start(Level level, const std::string& name) {
  logger =
      std::make_unique<spdlog::logger>(name, std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger->set_pattern("%H:%M:%S.%e %l %v");
  logger->set_level(spdlog_level(level));
}

bool wanted(Level level) { return logger && logger->should_log(spdlog_level(level)); }

void write(Level level, const std::string& sentence) {
  if (wanted(level)) logger->log(spdlog_level(level), sentence);
}

}  // namespace isthmus::daemon::log
