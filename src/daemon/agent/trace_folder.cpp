#include "daemon/agent/trace_folder.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "daemon/host/failure.hpp"

namespace isthmus::daemon {

namespace fs = std::filesystem;

TraceFolder::TraceFolder(const fs::path& base, const std::string& job)
    : path_((base / (job + "-traces-XXXXXX")).string()) {
  if (mkdtemp(path_.data()) == nullptr) {
    throw Failure(
        "cannot make a folder for traces in " + base.string() + ": " + std::strerror(errno),
        "Make it writable, or run without --trace.");
  }
  leftovers_ = std::make_unique<Leftovers>(path_);
}

TraceFolder::~TraceFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::vector<TraceFolder::File> TraceFolder::files() const {
  std::vector<File> found;
  std::error_code error;
  for (fs::directory_iterator at(path_, error), end; !error && at != end; at.increment(error)) {
    std::error_code gone;
    if (at->path().extension() != ".trace" || !fs::is_regular_file(at->symlink_status(gone))) {
      continue;
    }
    if (const auto size = at->file_size(gone); !gone) {
      found.push_back({at->path().filename().string(), static_cast<std::size_t>(size)});
    }
  }
  std::sort(found.begin(), found.end(),
            [](const File& a, const File& b) { return a.name < b.name; });
  return found;
}

bool TraceFolder::has(const std::string& name) const {
  const auto all = files();
  return std::any_of(all.begin(), all.end(), [&](const File& file) { return file.name == name; });
}

std::string TraceFolder::read(const std::string& name, std::size_t offset, std::size_t most) const {
  std::ifstream in(fs::path(path_) / name, std::ios::binary);
  in.seekg(static_cast<std::streamoff>(offset));
  std::string bytes(most, '\0');
  in.read(bytes.data(), static_cast<std::streamsize>(most));
  if (in.bad() || !in.is_open()) throw Failure("cannot read the trace " + path_ + "/" + name);
  bytes.resize(static_cast<std::size_t>(in.gcount()));
  return bytes;
}

}  // namespace isthmus::daemon
