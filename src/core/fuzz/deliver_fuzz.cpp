// libFuzzer's entry to Engine::deliver.
#include "core/fuzz/deliver_harness.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  isthmus::core::run_deliver_input({data, size});
  return 0;
}
