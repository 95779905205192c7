// JSON whose strings may hold any bytes, as arguments, names of files and variables do. Its text is
// UTF-8. A byte that is not UTF-8 stands there as two characters: U+0000 and the one whose number
// is the byte. Arguments, names and variables never hold U+0000 themselves.
// python/isthmus/base/anyjson.py is the launcher's end.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace isthmus::core {

/// Discarded (`is_discarded()`) when the text is not JSON.
nlohmann::json parse_any(std::string_view text);
/// `ascii`: all other characters are escaped, too.
std::string dump_any(nlohmann::json value, bool ascii = false);

/// Overwrites all strings at the key "secret", however deep.
void wipe_secrets(nlohmann::json& value);

}  // namespace isthmus::core
