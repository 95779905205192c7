// The last frames on a stream that goes no further.
#pragma once

#include <memory>
#include <string>

#include "core/base/ids.hpp"
#include "core/conduit/conduit.hpp"
#include "net/stream/stream.hpp"

namespace isthmus::net {

/// Tells the other end why it is not served, then closes the stream.
void refuse(const std::shared_ptr<Stream>& stream, core::NodeId self, core::NodeId peer,
            const std::string& sentence);
/// Tells the other end, by a Hello of another session, that the conduit which it resumes is gone,
/// then closes the stream.
void tell_anew(const std::shared_ptr<Stream>& stream, core::NodeId self, core::NodeId peer);
/// Tells the other end that this one has given up the conduit and lives. The caller closes the
/// stream a while later.
void tell_gone_on(const std::shared_ptr<Stream>& stream, const core::Conduit& conduit);
inline constexpr const char* kGoneOn = "goes on without this gateway";  ///< what it says

}  // namespace isthmus::net
