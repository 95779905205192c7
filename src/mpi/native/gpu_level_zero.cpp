// Level Zero, for GPUs of Intel. It does not tell in which context memory was allocated. Its
// driver, like UCX and Open MPI, finds an allocation by its address in whichever context of the
// driver asks. So one context of Isthmus's own serves for each driver.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <utility>
#include <vector>

#include "mpi/native/gpu_driver.hpp"

namespace isthmus::face {
namespace {

// Values and structures of ze_api.h, version 1.
enum : std::uint32_t {
  kGroupProperties = 0x6,  // ZE_STRUCTURE_TYPE_
  kContextDesc = 0xd,
  kQueueDesc = 0xe,
  kListDesc = 0xf,
  kMemoryProperties = 0x17,
};
struct ZeContextDesc {
  std::uint32_t kind = kContextDesc;
  const void* next = nullptr;
  std::uint32_t flags = 0;
};
struct ZeQueueDesc {
  std::uint32_t kind = kQueueDesc;
  const void* next = nullptr;
  std::uint32_t ordinal = 0, index = 0, flags = 0, mode = 0, priority = 0;
};
struct ZeListDesc {
  std::uint32_t kind = kListDesc;
  const void* next = nullptr;
  std::uint32_t ordinal = 0, flags = 0;
};
struct ZeGroupProperties {
  static constexpr std::uint32_t kCopies = 2;  // ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY
  std::uint32_t kind = kGroupProperties;
  void* next = nullptr;
  std::uint32_t flags = 0;
  std::size_t most_pattern = 0;
  std::uint32_t queues = 0;
};
struct ZeMemoryProperties {
  static constexpr std::uint32_t kDevice = 2;  // ZE_MEMORY_TYPE_DEVICE
  std::uint32_t kind = kMemoryProperties;
  void* next = nullptr;
  std::uint32_t type = 0;
  std::uint64_t id = 0, page_size = 0;
};

struct LevelZero {
  int (*init)(std::uint32_t flags);
  int (*driver_get)(std::uint32_t* count, void** drivers);
  int (*context_create)(void* driver, const ZeContextDesc* about, void** context);
  int (*properties)(void* context, const void* at, ZeMemoryProperties* found, void** device);
  int (*groups)(void* device, std::uint32_t* count, ZeGroupProperties* found);
  int (*queue_create)(void* context, void* device, const ZeQueueDesc* about, void** queue);
  int (*queue_execute)(void* queue, std::uint32_t count, void** lists, void* fence);
  int (*queue_synchronize)(void* queue, std::uint64_t timeout);
  int (*queue_destroy)(void* queue);
  int (*list_create)(void* context, void* device, const ZeListDesc* about, void** list);
  int (*list_copy)(void* list, void* to, const void* from, std::size_t bytes, void* event,
                   std::uint32_t waits, void** events);
  int (*list_close)(void* list);
  int (*list_reset)(void* list);
  int (*list_destroy)(void* list);
  int (*last_error)(void* driver, const char** text);  // may be null

  bool find(void* library) {
    find_in(library, "zeDriverGetLastErrorDescription", last_error);
    return find_in(library, "zeInit", init) && find_in(library, "zeDriverGet", driver_get) &&
           find_in(library, "zeContextCreate", context_create) &&
           find_in(library, "zeMemGetAllocProperties", properties) &&
           find_in(library, "zeDeviceGetCommandQueueGroupProperties", groups) &&
           find_in(library, "zeCommandQueueCreate", queue_create) &&
           find_in(library, "zeCommandQueueExecuteCommandLists", queue_execute) &&
           find_in(library, "zeCommandQueueSynchronize", queue_synchronize) &&
           find_in(library, "zeCommandQueueDestroy", queue_destroy) &&
           find_in(library, "zeCommandListCreate", list_create) &&
           find_in(library, "zeCommandListAppendMemoryCopy", list_copy) &&
           find_in(library, "zeCommandListClose", list_close) &&
           find_in(library, "zeCommandListReset", list_reset) &&
           find_in(library, "zeCommandListDestroy", list_destroy);
  }
};

/// A driver, and the context that is our own.
struct ZeContext {
  void* driver = nullptr;
  void* context = nullptr;
};
/// The device that has an address.
struct ZePlace {
  ZeContext of;
  void* device = nullptr;
};

class ZeCopies final : public DeviceCopies {
 public:
  ZeCopies(const LevelZero& ze, const ZePlace& at) : ze_(ze), driver_(at.of.driver) {
    const std::uint32_t ordinal = group_that_copies(at.device);
    const ZeQueueDesc queue{.ordinal = ordinal};
    require(ze_.queue_create(at.of.context, at.device, &queue, &queue_), "zeCommandQueueCreate");
    const ZeListDesc list{.ordinal = ordinal};
    const int error = ze_.list_create(at.of.context, at.device, &list, &list_);
    if (error != 0) ze_.queue_destroy(queue_);
    require(error, "zeCommandListCreate");
  }
  ~ZeCopies() override {
    ze_.queue_synchronize(queue_, UINT64_MAX);  // after an error: copies may be under way
    ze_.list_destroy(list_);
    ze_.queue_destroy(queue_);
  }
  ZeCopies(const ZeCopies&) = delete;
  ZeCopies& operator=(const ZeCopies&) = delete;

  void to_host(std::byte* to, const void* from, std::size_t bytes) override {
    copy(to, from, bytes);
  }
  void to_device(void* to, const std::byte* from, std::size_t bytes) override {
    copy(to, from, bytes);
  }
  void end() override {
    if (!std::exchange(any_, false)) return;
    require(ze_.list_close(list_), "zeCommandListClose");
    require(ze_.queue_execute(queue_, 1, &list_, nullptr), "zeCommandQueueExecuteCommandLists");
    require(ze_.queue_synchronize(queue_, UINT64_MAX), "zeCommandQueueSynchronize");
    require(ze_.list_reset(list_), "zeCommandListReset");
  }

 private:
  /// The first group that only copies, or else the first that can: it runs kernels, too.
  std::uint32_t group_that_copies(void* device) const {
    std::uint32_t count = 0;
    require(ze_.groups(device, &count, nullptr), "zeDeviceGetCommandQueueGroupProperties");
    std::vector<ZeGroupProperties> all(count);
    require(ze_.groups(device, &count, all.data()), "zeDeviceGetCommandQueueGroupProperties");
    const auto with = [&](std::uint32_t least, std::uint32_t others) {
      return std::find_if(all.begin(), all.end(), [=](const ZeGroupProperties& group) {
        return group.queues > 0 && (group.flags & least) == least && (group.flags & ~others) == 0;
      });
    };
    auto found = with(ZeGroupProperties::kCopies, ZeGroupProperties::kCopies);
    if (found == all.end()) found = with(ZeGroupProperties::kCopies, ~std::uint32_t{0});
    return found == all.end() ? 0 : static_cast<std::uint32_t>(found - all.begin());
  }
  void copy(void* to, const void* from, std::size_t bytes) {
    require(ze_.list_copy(list_, to, from, bytes, nullptr, 0, nullptr),
            "zeCommandListAppendMemoryCopy");
    any_ = true;
  }
  void require(int error, const char* function) const {
    if (error == 0) return;
    const char* text = nullptr;
    char number[32];
    std::snprintf(number, sizeof number, "error 0x%x", static_cast<unsigned>(error));
    const bool told = ze_.last_error != nullptr && ze_.last_error(driver_, &text) == 0 &&
                      text != nullptr && *text != '\0';
    cannot_copy(function, error, told ? text : number);
  }

  const LevelZero& ze_;
  void* const driver_;
  void* queue_ = nullptr;
  void* list_ = nullptr;
  bool any_ = false;  // the list has copies
};

class ZeDriver final : public GpuDriver {
 public:
  LevelZero ze{};
  std::vector<ZeContext> contexts;  // one of each driver

  bool begin() {
    std::uint32_t count = 0;
    if (ze.init(0) != 0 || ze.driver_get(&count, nullptr) != 0) return false;
    std::vector<void*> all(count);
    if (ze.driver_get(&count, all.data()) != 0) return false;
    for (void* const driver : all) {
      const ZeContextDesc about;
      void* context = nullptr;
      if (ze.context_create(driver, &about, &context) == 0) contexts.push_back({driver, context});
    }
    return !contexts.empty();
  }
  bool holds(const void* address) const override { return find(address).device != nullptr; }
  std::unique_ptr<DeviceCopies> copies(const void* address) const override {
    const ZePlace place = find(address);
    if (place.device == nullptr) cannot_copy("zeMemGetAllocProperties", 0, "unknown address");
    return std::make_unique<ZeCopies>(ze, place);
  }

 private:
  /// Memory that the host shares is not sought.
  ZePlace find(const void* address) const {
    for (const ZeContext& each : contexts) {
      ZeMemoryProperties found;
      void* device = nullptr;
      if (ze.properties(each.context, address, &found, &device) == 0 &&
          found.type == ZeMemoryProperties::kDevice) {
        return {each, device};
      }
    }
    return {};
  }
};

}  // namespace

const GpuDriver* level_zero_in(void* library) {
  static auto& driver = *new ZeDriver;  // never destroyed
  return driver.ze.find(library) && driver.begin() ? &driver : nullptr;
}

}  // namespace isthmus::face
