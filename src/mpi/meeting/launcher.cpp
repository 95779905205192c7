#include "mpi/meeting/launcher.hpp"

#include <map>
#include <optional>

#include "coll/engine/party.hpp"
#include "core/base/any_json.hpp"
#include "mpi/native/native.hpp"
#include "mpi/process/grid.hpp"
#include "mpi/request/progress.hpp"
#include "net/control/control_body.hpp"

namespace isthmus::face {
namespace {

using nlohmann::json;

int class_named(const std::string& name) {
  static const std::map<std::string, int> classes{
      {"port", MPI_ERR_PORT},   {"name", MPI_ERR_NAME}, {"service", MPI_ERR_SERVICE},
      {"spawn", MPI_ERR_SPAWN}, {"info", MPI_ERR_INFO}, {"arg", MPI_ERR_ARG}};
  const auto found = classes.find(name);
  return found == classes.end() ? MPI_ERR_OTHER : found->second;
}

}  // namespace

json ask_launcher(const json& request, const std::function<bool()>& gives_up,
                  const json& withdrawal) {
  const std::string text = core::dump_any(request, true);
  if (text.size() > net::kMostAsked) {
    throw MpiError(MPI_ERR_ARG,
                   "the arguments are longer than " + std::to_string(net::kMostAsked) + " bytes");
  }
  net::Endpoint& endpoint = *grid()->endpoint;
  const std::uint64_t number = endpoint.ask(text);
  std::optional<std::string> reply;
  std::optional<std::uint64_t> withdrawn;
  wait_until([&] {
    if (gives_up && !withdrawn && gives_up()) {
      withdrawn = endpoint.ask(core::dump_any(withdrawal, true));
    }
    return (reply = endpoint.answer(number)).has_value();
  });
  if (withdrawn) wait_until([&] { return endpoint.answer(*withdrawn).has_value(); });
  json answer = core::parse_any(*reply);
  if (!answer.is_object()) throw MpiError(MPI_ERR_OTHER, "the launcher's answer is no answer");
  if (const auto error = answer.find("error"); error != answer.end()) {
    throw MpiError(class_named(error->is_string() ? error->get<std::string>() : ""),
                   text_of(answer, "message"));
  }
  return answer;
}

std::string text_of(const json& answer, const char* key) {
  const auto found = answer.find(key);
  if (found == answer.end() || !found->is_string()) {
    throw MpiError(MPI_ERR_OTHER, std::string("the launcher's answer lacks ") + key);
  }
  return found->get<std::string>();
}

}  // namespace isthmus::face
