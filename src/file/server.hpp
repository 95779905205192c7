// The file service of one process: opens files for far processes and does what they ask, one
// request after the other. Called on one thread, which the file system may hold up.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "file/leftover.hpp"
#include "file/open_file.hpp"
#include "file/protocol.hpp"
#include "file/storage.hpp"
#include "file/view.hpp"

namespace isthmus::file {

class Server {
 public:
  using Opener = std::function<std::unique_ptr<Storage>(const Opening&)>;
  using Remover = std::function<void(const std::string& path)>;
  explicit Server(Opener opener = open_file, Remover remover = remove_file)
      : opener_(std::move(opener)), remover_(std::move(remover)) {}

  /// The encoded reply. Empty: another has locked the range; try again. Throws only std::bad_alloc:
  /// other errors become the reply. `only`: the client may open that file, as it says there,
  /// whatever the request names, and may remove none.
  std::optional<std::vector<std::byte>> handle(std::uint32_t client, const Request& request,
                                               const Paths* only = nullptr);

  /// The client has failed: its files are closed here, and their locks are free.
  void forget(std::uint32_t client);

 private:
  struct Open {
    std::unique_ptr<Storage> storage;
    SharedNumber shared;
    View view;
    std::vector<std::byte> parts;
    std::unique_ptr<Leftover> goes;  ///< the end of this process removes the file
  };
  bool answer(std::uint32_t client, const Request& request, const Paths* only, Reply& reply);
  std::vector<std::byte> read(std::uint32_t client, const Request& request);
  Open& opened(std::uint32_t client, const Request& request);
  void open(std::uint32_t client, const Request& request, const Paths* only);

  Opener opener_;
  Remover remover_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, Open> files_;
};

}  // namespace isthmus::file
