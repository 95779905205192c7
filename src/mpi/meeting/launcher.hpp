// Requests of this process to the launcher (docs/control.md, "What ranks ask").
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>

namespace isthmus::face {

/// Keeps the program's other operations going until the answer is there. Throws MpiError with
/// the class and the sentence of an answer that is an error. When `gives_up()` becomes true, this
/// sends `withdrawal`. The answer then comes soon, or at its limit if another run has to give it.
nlohmann::json ask_launcher(const nlohmann::json& request,
                            const std::function<bool()>& gives_up = {},
                            const nlohmann::json& withdrawal = {});

/// Reads a text from an answer of ask_launcher; throws MpiError if it is missing.
std::string text_of(const nlohmann::json& answer, const char* key);

}  // namespace isthmus::face
