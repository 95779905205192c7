#include "daemon/launch/native_identity.hpp"

#include <array>
#include <filesystem>

namespace isthmus::daemon {
namespace {

constexpr const char* kDescriptor = "PMI_FD";
constexpr std::array kNames{"PMIX_NAMESPACE", "PMIX_RANK",    "PMI_RANK",
                            kDescriptor,      "SLURM_PROCID", "SLURM_STEP_ID"};

}  // namespace

std::string native_identity(const Environment& environment) {
  std::string text;
  for (const char* name : kNames) {
    auto value = environment.get(name);
    if (!value) continue;
    if (name == kDescriptor) {
      std::error_code error;
      const auto open = std::filesystem::read_symlink("/proc/self/fd/" + *value, error).string();
      if (!error) value = open;
    }
    text += (text.empty() ? "" : ";") + std::string(name) + "=" + *value;
  }
  return text;
}

bool is_of_rank(const Environment& process, const Environment& rank) {
  bool any = false;
  for (const char* name : kNames) {
    const auto wanted = rank.get(name);
    if (!wanted) continue;
    if (process.get(name) != wanted) return false;
    any = true;
  }
  return any;
}

}  // namespace isthmus::daemon
