// What the sources have in common: compiled once for all of them (building.py).
#pragma once

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "step.hpp"
