// The sources share these headers, which are compiled once for all of them (building.py).
#pragma once

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "step.hpp"
