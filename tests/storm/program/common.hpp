// The sources share these headers, which are compiled once for all of them (building.py).
#pragma once

#include "step.hpp"
