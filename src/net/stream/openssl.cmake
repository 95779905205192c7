# The faces have OpenSSL inside, where it can be had so: libssl asks libcrypto by names that a
# program with an OpenSSL of its own may have, too. OpenSSL's own default makes its archives fit for
# shared libraries, but not all distributions have them.
#
# A wheel brings OpenSSL for all its parts. One library of it, whose name and symbol versions are its
# own, is as far from a program's OpenSSL as one inside each face. It is four times smaller than
# those together (2026-11).
option(ISTHMUS_OPENSSL_BESIDE "Put OpenSSL into one library beside the faces, for all parts" OFF)
include(CheckCSourceCompiles)
get_filename_component(openssl_folder "${OPENSSL_SSL_LIBRARY}" DIRECTORY)
find_library(ISTHMUS_SSL_ARCHIVE libssl.a HINTS "${openssl_folder}" NO_DEFAULT_PATH)
find_library(ISTHMUS_CRYPTO_ARCHIVE libcrypto.a HINTS "${openssl_folder}" NO_DEFAULT_PATH)
mark_as_advanced(ISTHMUS_SSL_ARCHIVE ISTHMUS_CRYPTO_ARCHIVE)
set(openssl_inside)
if(ISTHMUS_SSL_ARCHIVE AND ISTHMUS_CRYPTO_ARCHIVE AND NOT ISTHMUS_OPENSSL_BESIDE)
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
if(ISTHMUS_OPENSSL_BESIDE)
  set(map "${CMAKE_CURRENT_LIST_DIR}/openssl.map")
  add_library(isthmus_openssl_beside SHARED $<TARGET_OBJECTS:isthmus_bind>)
  set_target_properties(isthmus_openssl_beside PROPERTIES LINKER_LANGUAGE C LINK_DEPENDS "${map}"
                        OUTPUT_NAME isthmus-openssl LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")
  target_link_libraries(isthmus_openssl_beside PRIVATE
    -Wl,--whole-archive "${ISTHMUS_SSL_ARCHIVE}" "${ISTHMUS_CRYPTO_ARCHIVE}" -Wl,--no-whole-archive
    Threads::Threads ${CMAKE_DL_LIBS})
  target_link_options(isthmus_openssl_beside PRIVATE -Wl,-z,now -Wl,-z,defs -Wl,-Bsymbolic
                      "-Wl,--version-script=${map}")
  install(TARGETS isthmus_openssl_beside LIBRARY DESTINATION "${ISTHMUS_LIBDIR}")
  target_include_directories(isthmus_openssl SYSTEM INTERFACE ${OPENSSL_INCLUDE_DIR})
  target_link_libraries(isthmus_openssl INTERFACE isthmus_openssl_beside)
elseif(ISTHMUS_OPENSSL_FITS_INSIDE)
  set(asked "$<BOOL:$<TARGET_PROPERTY:ISTHMUS_OPENSSL_INSIDE>>")
  target_include_directories(isthmus_openssl SYSTEM INTERFACE ${OPENSSL_INCLUDE_DIR})
  target_link_libraries(isthmus_openssl INTERFACE
    "$<${asked}:${openssl_inside}>" "$<$<NOT:${asked}>:OpenSSL::SSL;OpenSSL::Crypto>")
else()
  message(STATUS "Faces: linked to OpenSSL's shared libraries, no archives of it fit into them")
  target_link_libraries(isthmus_openssl INTERFACE OpenSSL::SSL OpenSSL::Crypto)
endif()
