#include "daemon/launch/wrapped_program.hpp"

#include <filesystem>
#include <fstream>
#include <set>
#include <string_view>

#include "daemon/host/failure.hpp"

namespace isthmus::daemon {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxScript = 64 * 1024;
constexpr int kMaxPrograms = 40;  // that are examined: some 5 ms each
constexpr int kMaxDepth = 4;      // scripts that start scripts

enum class Pass { Compiled, Python };

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(kMaxScript, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text.find('\0') == std::string::npos ? text : std::string();
}

class Search {
 public:
  Search(const Site& site, Pass pass) : site_(site), pass_(pass) {}

  /// Examines the first word that names an MPI program.
  void words(const std::vector<std::string>& argv) {
    for (std::size_t i = 1; i < argv.size() && !found_; ++i) {
      if (argv[i].find_first_of(" \t\n") != std::string::npos) {
        script(argv[i], "", 1);
      } else {
        named(argv[i], "", 1);
      }
    }
  }

  /// Examines all names in the script's text.
  void script(const std::string& text, const std::string& folder, int depth) {
    for (const std::string& word : plain_words(text)) named(word, folder, depth);
  }

  void script_file(const std::string& path, int depth) {
    script(text_of(path), fs::path(path).parent_path().string(), depth);
  }

  std::optional<MpiLibrary> found() const { return differ_ ? std::nullopt : found_; }

 private:
  // Scripts often change to their own folder first: programs are looked for there, too.
  void named(const std::string& word, const std::string& folder, int depth) {
    if (word.empty() || word.front() == '-') return;
    for (const std::string& from : {site_.directory, folder}) {
      Site at = site_;
      at.directory = from;
      try {
        return examine(find_program(word, at), depth);
      } catch (const Failure&) {
        if (folder.empty() || word.find('/') == std::string::npos) return;
      }
    }
  }

  void examine(const std::string& path, int depth) {
    if (depth > kMaxDepth || !seen_.insert(path).second || seen_.size() > kMaxPrograms) return;
    if (is_python(path) != (pass_ == Pass::Python)) return;
    if (const auto library = library_of_program(path, site_)) {
      differ_ = differ_ || (found_ && found_->path != library->path);
      if (!found_) found_ = library;
    } else {
      script_file(path, depth + 1);
    }
  }

  const Site& site_;
  Pass pass_;
  std::set<std::string> seen_;
  std::optional<MpiLibrary> found_;
  bool differ_ = false;
};

}  // namespace

std::vector<std::string> plain_words(const std::string& script) {
  static constexpr std::string_view kBetween = " \t\n;|&()<>`\"'={},";
  static constexpr std::string_view kExpanded = "$*?[]~\\";
  std::vector<std::string> words;
  std::string word;
  bool comment = false;
  for (const char c : script + "\n") {
    if (comment) {
      comment = c != '\n';
    } else if (c == '#' && word.empty()) {
      comment = true;
    } else if (kBetween.find(c) == std::string_view::npos) {
      word += c;
    } else {
      if (!word.empty() && word.find_first_of(kExpanded) == std::string::npos) {
        words.push_back(word);
      }
      word.clear();
    }
  }
  return words;
}

std::optional<MpiLibrary> wrapped_library(const std::vector<std::string>& argv, const Site& site) {
  // Asking a Python takes a second, and scripts use one for this and that.
  for (const Pass pass : {Pass::Compiled, Pass::Python}) {
    Search search(site, pass);
    search.words(argv);
    if (!search.found()) search.script_file(find_program(argv.front(), site), 1);
    if (const auto library = search.found()) return library;
  }
  return std::nullopt;
}

}  // namespace isthmus::daemon
