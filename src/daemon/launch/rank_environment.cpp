#include "daemon/launch/rank_environment.hpp"

#include <nlohmann/json.hpp>

#include "core/base/any_json.hpp"
#include "core/base/hex.hpp"

namespace isthmus::daemon {

std::vector<std::string> set_rank_environment(const RankSetup& setup, Environment& environment) {
  std::vector<std::string> names;
  const auto set = [&](const std::string& name, const std::string& value) {
    environment.set(name, value);
    names.push_back(name);
  };
  set("ISTHMUS_JOB", setup.job);
  set("ISTHMUS_CLUSTER", setup.cluster);
  set("ISTHMUS_FIRST", std::to_string(setup.first));
  if (setup.base > 0) set("ISTHMUS_BASE", std::to_string(setup.base));
  set("ISTHMUS_SIZE", std::to_string(setup.world_size));
  if (setup.local_first > 0) set("ISTHMUS_LOCAL_FIRST", std::to_string(setup.local_first));
  if (!setup.world.empty()) {
    set(kSecretVariable, core::Secret(core::to_hex(setup.secret)));
    set("ISTHMUS_WORLD", setup.world);
    set("ISTHMUS_LIBDIR", setup.libdir);
  }
  if (!setup.stub.empty()) {
    set("ISTHMUS_STUB", setup.stub);
    set("ISTHMUS_LIBMPI", setup.library);
  }
  if (!setup.wdir.empty()) set("ISTHMUS_WDIR", setup.wdir);
  if (setup.tag_output) set("ISTHMUS_TAG_OUTPUT", "1");
  if (setup.keep_paths) {
    for (const std::string name : {"PATH", "LD_LIBRARY_PATH"}) {
      set(kKeptPrefix + name, environment.get(name).value_or(""));
    }
  }
  // The parts' own variables differ by part and so cannot be variables of the launcher.
  auto parts = nlohmann::json::array();
  bool needed = setup.by_rank;
  for (const auto& part : setup.parts) {
    nlohmann::json item{{"n", part.n}, {"env", part.env}, {"appnum", part.appnum}};
    if (setup.by_rank) item["argv"] = part.argv;
    needed = needed || !part.env.empty() || part.appnum != 0;
    parts.push_back(std::move(item));
  }
  if (needed) set("ISTHMUS_PARTS", core::dump_any(std::move(parts), true));
  return names;
}

}  // namespace isthmus::daemon
