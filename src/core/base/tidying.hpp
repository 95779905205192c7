// What a rank tells `isthmusd tidy`, which removes files once the rank has ended. Each packet has
// one of these letters and an absolute path.
#pragma once

namespace isthmus::core {

inline constexpr char kTidyRemove = '+';  ///< the file goes when the rank ends
inline constexpr char kTidyKeep = '-';    ///< no more: takes one kTidyRemove back

}  // namespace isthmus::core
