#include "file/server.hpp"

#include <fcntl.h>

#include <cerrno>

#include "file/access.hpp"
#include "file/error.hpp"

namespace isthmus::file {
namespace {

// The most that a process may have this one keep: more than any program is known to open (2026-11).
constexpr std::size_t kMostFiles = 1 << 16;
constexpr std::size_t kMostViewBytes = std::size_t{1} << 28;

void demand(bool condition, const char* what) {
  if (!condition) throw Error(EPROTO, std::string("a request for a file is malformed: ") + what);
}

int system_flags(std::int64_t flags) {
  const std::int64_t ways = flags & (kReads | kWrites);
  demand(ways != 0 && (flags & ~(kReads | kWrites | kCreates | kExclusive | kGoes)) == 0,
         "the mode");
  const int access = ways == kReads ? O_RDONLY : ways == kWrites ? O_WRONLY : O_RDWR;
  return access | ((flags & kCreates) != 0 ? O_CREAT : 0) |
         ((flags & kExclusive) != 0 ? O_EXCL : 0);
}

}  // namespace

std::optional<std::vector<std::byte>> Server::handle(std::uint32_t client, const Request& request,
                                                     const Paths* only) {
  Reply reply;
  reply.number = request.number;
  try {
    if (request.op == Op::Read) return read(client, request);
    if (!answer(client, request, only, reply)) return std::nullopt;
  } catch (const Error& error) {
    reply.error = error.number;
    reply.sentence = error.what();
  }
  return encode(reply);
}

Server::Open& Server::opened(std::uint32_t client, const Request& request) {
  const auto found = files_.find({client, request.file});
  demand(found != files_.end(), "no such file is open");
  return found->second;
}

std::vector<std::byte> Server::read(std::uint32_t client, const Request& request) {
  Open& file = opened(client, request);
  demand(request.a >= 0 && request.b >= 0 && request.b <= static_cast<std::int64_t>(kMostData),
         "the length");
  ReplyWithData reply = reply_with_room(request.number, static_cast<std::size_t>(request.b));
  const auto data = std::span(reply.bytes).subspan(reply.head);
  reply.bytes.resize(reply.head + read_seen(*file.storage, file.view, request.a, data));
  return std::move(reply.bytes);
}

void Server::open(std::uint32_t client, const Request& request, const Paths* only) {
  demand(files_.size() < kMostFiles, "too many files");
  const std::string shared(reinterpret_cast<const char*>(request.data.data()), request.data.size());
  Opening asked{.path = request.text,
                .flags = system_flags(request.a),
                .permissions = static_cast<mode_t>(request.b)};
  Open made{.storage = opener_(only == nullptr ? asked : only->file),
            .shared = SharedNumber(only == nullptr ? shared : only->shared),
            .view = {},
            .parts = {},
            .goes = {}};
  // Files of another run remove nothing here.
  if ((request.a & kGoes) != 0 && only == nullptr) {
    made.goes = std::make_unique<Leftover>(request.text);
  }
  demand(files_.emplace(std::pair(client, request.file), std::move(made)).second, "open twice");
}

// False: not yet.
bool Server::answer(std::uint32_t client, const Request& request, const Paths* only, Reply& reply) {
  if (request.op == Op::Open) {
    open(client, request, only);
    return true;
  }
  if (request.op == Op::Remove) {
    if (only != nullptr) throw Error(EPERM, "files are removed by processes of their own run");
    remover_(request.text);
    return true;
  }
  Open& file = opened(client, request);
  switch (request.op) {
    case Op::Open:
    case Op::Read:
    case Op::Remove:
      break;
    case Op::Close:
      files_.erase({client, request.file});
      break;
    case Op::ViewPart:
      demand(file.parts.size() + request.data.size() <= kMostViewBytes, "a long view");
      file.parts.insert(file.parts.end(), request.data.begin(), request.data.end());
      break;
    case Op::View: {
      auto map = core::TypeMap::decode(file.parts);
      file.parts = {};
      demand(map.has_value(), "the view");
      file.view = {.displacement = request.a, .filetype = std::move(*map)};
      break;
    }
    case Op::Write:
      demand(request.a >= 0, "the position");
      write_seen(*file.storage, file.view, request.a, request.data);
      break;
    case Op::Size:
      reply.value = file.storage->size();
      break;
    case Op::Resize:
      file.storage->resize(request.a);
      break;
    case Op::Preallocate:
      file.storage->preallocate(request.a);
      break;
    case Op::Sync:
      file.storage->sync();
      break;
    case Op::Lock:
      return file.storage->try_lock(request.a, request.b);
    case Op::Unlock:
      file.storage->unlock();
      break;
    case Op::Add:
      reply.value = file.shared.add(request.a);
      break;
    case Op::Set:
      file.shared.set(request.a);
      break;
  }
  return true;
}

void Server::forget(std::uint32_t client) {
  std::erase_if(files_, [client](const auto& entry) { return entry.first.first == client; });
}

}  // namespace isthmus::file
