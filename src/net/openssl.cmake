# The faces have OpenSSL inside, where it can be had so: libssl asks libcrypto by names that a
# program with an OpenSSL of its own may have, too. OpenSSL's own default makes its archives fit for
# shared libraries, but not all distributions have them.
include(CheckCSourceCompiles)
get_filename_component(openssl_folder "${OPENSSL_SSL_LIBRARY}" DIRECTORY)
find_library(ISTHMUS_SSL_ARCHIVE libssl.a HINTS "${openssl_folder}" NO_DEFAULT_PATH)
find_library(ISTHMUS_CRYPTO_ARCHIVE libcrypto.a HINTS "${openssl_folder}" NO_DEFAULT_PATH)
mark_as_advanced(ISTHMUS_SSL_ARCHIVE ISTHMUS_CRYPTO_ARCHIVE)
set(openssl_inside)
if(ISTHMUS_SSL_ARCHIVE AND ISTHMUS_CRYPTO_ARCHIVE)
  set(openssl_inside "${ISTHMUS_SSL_ARCHIVE}" "${ISTHMUS_CRYPTO_ARCHIVE}" Threads::Threads
                     ${CMAKE_DL_LIBS})
  set(CMAKE_REQUIRED_INCLUDES ${OPENSSL_INCLUDE_DIR})
  set(CMAKE_REQUIRED_LIBRARIES ${openssl_inside})
  set(CMAKE_REQUIRED_LINK_OPTIONS -shared -Wl,-z,defs)
  check_c_source_compiles("#include <openssl/ssl.h>
int main(void) { return SSL_CTX_new(TLS_client_method()) == 0; }" ISTHMUS_OPENSSL_FITS_INSIDE)
  unset(CMAKE_REQUIRED_INCLUDES)
  unset(CMAKE_REQUIRED_LIBRARIES)
  unset(CMAKE_REQUIRED_LINK_OPTIONS)
endif()
# The target property ISTHMUS_OPENSSL_INSIDE asks for it.
add_library(isthmus_openssl INTERFACE)
if(ISTHMUS_OPENSSL_FITS_INSIDE)
  set(asked "$<BOOL:$<TARGET_PROPERTY:ISTHMUS_OPENSSL_INSIDE>>")
  target_include_directories(isthmus_openssl SYSTEM INTERFACE ${OPENSSL_INCLUDE_DIR})
  target_link_libraries(isthmus_openssl INTERFACE
    "$<${asked}:${openssl_inside}>" "$<$<NOT:${asked}>:OpenSSL::SSL;OpenSSL::Crypto>")
else()
  message(STATUS "Faces: linked to OpenSSL's shared libraries, no archives of it fit into them")
  target_link_libraries(isthmus_openssl INTERFACE OpenSSL::SSL OpenSSL::Crypto)
endif()
