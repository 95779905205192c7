// The text that Prometheus reads (its format, version 0.0.4): families of samples.
#pragma once

#include <fmt/format.h>

#include <initializer_list>
#include <string>
#include <string_view>

namespace isthmus::daemon {

class Exposition {
 public:
  struct Label {
    const char* name;
    std::string_view value;
  };

  /// Begins a family; its samples follow. The name of a counter ends in "_total".
  void family(std::string_view name, const char* type, const char* help) {
    name_ = name;
    text_ += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
  }

  template <class Number>
  void sample(std::initializer_list<Label> labels, Number value) {
    text_ += name_;
    char before = '{';
    for (const Label& label : labels) {
      text_ += fmt::format("{}{}=\"{}\"", before, label.name, quoted(label.value));
      before = ',';
    }
    text_ += fmt::format("{} {}\n", labels.size() > 0 ? "}" : "", value);
  }

  const std::string& text() const { return text_; }

 private:
  static std::string quoted(std::string_view value) {
    std::string out;
    for (const char c : value) {
      if (c == '\\' || c == '"') out += '\\';
      out += c == '\n' ? ' ' : c;
    }
    return out;
  }

  std::string text_, name_;
};

}  // namespace isthmus::daemon
