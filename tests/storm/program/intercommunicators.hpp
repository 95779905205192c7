// What an intercommunicator carries.
#pragma once

#include "sides.hpp"

namespace storm {

/// Bytes that belong to three numbers, drawn as Step::draw_size does, but in no order.
std::size_t size_between(const Step& step, int a, int b, int c, std::size_t most);

/// Plays a collective in any form. All of the step draw it, members or not.
void collective_between(Step& step, const Sides& sides, int which, std::size_t most,
                        UnderWay& operations);

}  // namespace storm
