#include "daemon/agent/staging.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/evp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <system_error>
#include <utility>

#include "core/base/hex.hpp"
#include "daemon/host/failure.hpp"
#include "daemon/host/host.hpp"

namespace isthmus::daemon {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void cannot_write(const fs::path& place) {
  throw Failure("the file '" + place.string() + "' cannot be written on " + host_name() + ": " +
                    std::strerror(errno),
                "Name another place with --wdir or the cluster's wdir key.");
}

}  // namespace

std::string sha256_of_file(const fs::path& path) {
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return {};
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> digest(EVP_MD_CTX_new(),
                                                                       EVP_MD_CTX_free);
  if (!digest || EVP_DigestInit_ex(digest.get(), EVP_sha256(), nullptr) != 1) return {};
  std::array<char, std::size_t{1} << 16> block;
  for (;;) {
    const ssize_t got = read(file.get(), block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return {};
    if (got == 0) break;
    EVP_DigestUpdate(digest.get(), block.data(), static_cast<std::size_t>(got));
  }
  std::array<unsigned char, EVP_MAX_MD_SIZE> sum;
  unsigned size = 0;
  if (EVP_DigestFinal_ex(digest.get(), sum.data(), &size) != 1) return {};
  return core::to_hex({reinterpret_cast<const char*>(sum.data()), size});
}

fs::path staged_place(const std::string& path, const std::string& directory,
                      const std::string& home) {
  const auto at_home = [&](const std::string& text) {
    return text.starts_with("~/") ? fs::path(home) / text.substr(2) : fs::path(text);
  };
  fs::path named = at_home(path).lexically_normal();
  if (named.is_absolute()) return named;
  if (named.empty() || *named.begin() == "..") {
    throw Failure("the file '" + path + "' to be staged lies outside of the working directory",
                  "Give its absolute path, or one below the working directory.");
  }
  return (directory.empty() ? fs::path(".") : at_home(directory)) / named;
}

StagedFile::StagedFile(fs::path place, const StageRequest& request)
    : place_(std::move(place)), request_(request) {
  std::error_code error;
  fs::create_directories(place_.parent_path(), error);
  // A new file that only its owner can open: others may write to the folder, too.
  std::string name = place_.string() + ".isthmus-XXXXXX";
  file_ = FileDescriptor(mkostemp(name.data(), O_CLOEXEC));
  if (!file_) cannot_write(place_);
  temporary_ = name;
}

StagedFile::~StagedFile() {
  std::error_code error;
  if (!temporary_.empty()) fs::remove(temporary_, error);
}

void StagedFile::write(std::string_view bytes) {
  written_ += bytes.size();
  while (!bytes.empty()) {
    const ssize_t done = ::write(file_.get(), bytes.data(), bytes.size());
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) cannot_write(place_);
    bytes.remove_prefix(static_cast<std::size_t>(done));
  }
}

void StagedFile::finish() {
  if (written_ != request_.size || sha256_of_file(temporary_) != request_.sha256) {
    throw Failure(fmt::format("the file '{}' arrived on {} damaged: {} of {} bytes, or with other "
                              "contents",
                              place_.string(), host_name(), written_, request_.size),
                  "Did it change while it was copied?");
  }
  if (fchmod(file_.get(), request_.mode & 0777) != 0) cannot_write(place_);
  file_ = FileDescriptor();
  if (rename(temporary_.c_str(), place_.c_str()) != 0) cannot_write(place_);
  temporary_.clear();
}

}  // namespace isthmus::daemon
