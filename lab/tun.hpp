// TUN devices that pass super-packets whole.
#pragma once

#include <string>

#include "lab/file_descriptor.hpp"

namespace isthmus::lab {

/// Opens, or makes, the TUN device `name` in the network namespace that the file `netns` stands
/// for; an empty `netns` is the own one. Reads and writes take one frame each, with a
/// VirtioHeader, and do not block. The device goes when it is closed. Throws std::runtime_error.
FileDescriptor open_tun(const std::string& netns, const std::string& name);

}  // namespace isthmus::lab
