// The kernel's congestion control of one TCP connection.
#pragma once

#include <string>
#include <system_error>

namespace isthmus::net {

/// Its name, as "cubic"; empty when the socket is not of TCP.
std::string congestion_of(int socket);

/// Takes another, for example "bbr". Fails with `permission_denied` if the kernel keeps it for
/// administrators (net.ipv4.tcp_allowed_congestion_control), and with `no_such_file_or_directory`
/// if the kernel has none of that name. Does nothing to a socket that is not TCP.
std::error_code set_congestion(int socket, const std::string& name);

/// Whether the kernel lets the connection begin again, with a small window, after a pause.
bool begins_anew_after_pauses(int socket);

}  // namespace isthmus::net
