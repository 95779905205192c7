// What this process asks the launcher (docs/control.md, "What ranks ask").
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace isthmus::face {

/// Keeps the program's other operations going until the answer is there. Throws coll::Failure with
/// the class and the sentence of an answer that is an error.
nlohmann::json ask_launcher(const nlohmann::json& request);

/// Of the answers to ask_launcher; throws coll::Failure where it is not there.
std::string text_of(const nlohmann::json& answer, const char* key);

}  // namespace isthmus::face
