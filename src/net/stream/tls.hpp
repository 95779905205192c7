// TLS 1.3 with the job's secret as external pre-shared key (RFC 8446, section 2.2). It has no
// certificates; a peer without the secret gets no connection.
#pragma once

#include <asio/ssl/context.hpp>

#include "net/host/credentials.hpp"

namespace isthmus::net {

/// A context for one side. Connections made with it prove the secret in both directions; check
/// proved() once the handshake is done.
asio::ssl::context make_tls(bool server, const Credentials& credentials);

/// True when the handshake of `ssl` was by the pre-shared key.
bool proved(SSL* ssl);

}  // namespace isthmus::net
