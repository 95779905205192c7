// The actions of isthmusd on its standard error. `isthmus run` shows them if ISTHMUS_LOG asks for
// it. News that users get anyway go through the control channel.
//
//   log::debug("{} has joined: {} of {}", name, joined, size);
//
// On the thread of the io_context.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <string_view>
#include <utility>

namespace isthmus::daemon::log {

enum class Level { Off, Warn, Info, Debug };

/// "off", "warn", "info" or "debug"; empty: off. Throws Failure with a sentence that lists them.
Level parse_level(std::string_view text);

/// Begins to write lines of this level and graver ones, with `name` ("east").
void start(Level level, const std::string& name);
bool wanted(Level level);
void write(Level level, const std::string& sentence);

template <class... Values>
void line(Level level, fmt::format_string<Values...> text, Values&&... values) {
  if (wanted(level)) write(level, fmt::format(text, std::forward<Values>(values)...));
}
/// The job suffers or ends.
template <class... Values>
void warn(fmt::format_string<Values...> text, Values&&... values) {
  line(Level::Warn, text, std::forward<Values>(values)...);
}
/// A step of the job: a few lines for each.
template <class... Values>
void info(fmt::format_string<Values...> text, Values&&... values) {
  line(Level::Info, text, std::forward<Values>(values)...);
}
/// Lines for each process, stream and request.
template <class... Values>
void debug(fmt::format_string<Values...> text, Values&&... values) {
  line(Level::Debug, text, std::forward<Values>(values)...);
}

}  // namespace isthmus::daemon::log
