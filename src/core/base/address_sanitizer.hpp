// Memory is not kept under an address sanitizer, which must see each block end.
#pragma once

namespace isthmus::core {

#if defined(__SANITIZE_ADDRESS__)  // GCC's word
inline constexpr bool kAddressSanitizer = true;
#elif defined(__has_feature)
inline constexpr bool kAddressSanitizer = __has_feature(address_sanitizer);
#else
inline constexpr bool kAddressSanitizer = false;
#endif

}  // namespace isthmus::core
