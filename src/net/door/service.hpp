// Streams by way of a service (docs/service.md): a host that both ends dial joins two connections,
// and passes on bytes that it cannot read. This is the dialling side; src/daemon/service is the
// other.
#pragma once

#include <array>
#include <asio/awaitable.hpp>
#include <asio/io_context.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/ids.hpp"
#include "net/host/credentials.hpp"
#include "net/stream/handshake.hpp"
#include "net/stream/stream.hpp"

namespace isthmus::net {

/// The address of a service, and the proof there of whose job this is.
struct Service {
  std::string at;           ///< "host:port"
  Credentials credentials;  ///< of service_credentials
};

constexpr const char* kServiceScheme = "service:";  ///< of a link's address

/// The name that is proved to a service is "KEY/JOB", the secret is of this key and this job.
Credentials service_credentials(const std::string& key, const std::string& secret,
                                const std::string& job);

/// The request on a connection to a service, after the proof of whose it is.
struct ServiceRequest {
  enum class Verb : std::uint8_t { Await = 1, Call = 2, Take = 3 };
  Verb verb = Verb::Await;
  core::NodeId node = core::kNobody;  ///< Await: who awaits; Call: who is called
  std::uint64_t number = 0;           ///< Take: of the call

  static constexpr std::size_t kSize = 16;
};
std::array<unsigned char, ServiceRequest::kSize> encode(const ServiceRequest& request);
/// Empty if the bytes are not a request.
std::optional<ServiceRequest> decode_service_request(
    std::span<const unsigned char, ServiceRequest::kSize> bytes);

/// The answer: this byte, the size of the sentence (1), the sentence.
enum class ServiceVerdict : std::uint8_t { Granted = 0, Refused = 1, NotNow = 2 };

/// One that awaits calls hears numbers of calls (8 bytes each), and 0 as a sign of life this often.
constexpr std::chrono::seconds kServiceBeat{10};

/// A call waits this long at the service until it is taken.
constexpr std::chrono::seconds kServiceCall{10};

/// A connection on which the service has granted the request. Throws net::Refusal (handshake.hpp)
/// where asking again is of no use, else std::runtime_error; the sentence names the service.
asio::awaitable<Socket> ask_service(Service service, ServiceRequest request,
                                    std::chrono::milliseconds limit);

/// A stream to a gateway that awaits calls, by the first of the services that has it. Throws as
/// ask_service does; the sentence has one part for each service.
asio::awaitable<std::shared_ptr<Stream>> call(std::vector<Service> services, core::NodeId peer,
                                              Credentials credentials, Protection protection,
                                              std::chrono::milliseconds limit);

/// Awaits calls at a service, again whenever the connection is lost, until it is destroyed.
class ServiceDoor {
 public:
  using Called = std::function<void(Socket socket, const std::string& where)>;
  /// Why it cannot await calls for now; each sentence once in a row.
  using Trouble = std::function<void(const std::string& sentence)>;

  ServiceDoor(asio::io_context& io, Service service, core::NodeId node, Called called,
              Trouble trouble);
  ~ServiceDoor();
  ServiceDoor(const ServiceDoor&) = delete;
  ServiceDoor& operator=(const ServiceDoor&) = delete;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace isthmus::net
