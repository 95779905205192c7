// HIP, for GPUs of AMD. A stream belongs to the device that was current when it was created; the
// program's own device is current again at once.
#include "mpi/native/gpu_driver.hpp"

namespace isthmus::face {
namespace {

struct Hip {
  // Values in hip_runtime_api.h. Version 6 changed those of hipMemoryType.
  static constexpr int kMemoryType = 2, kIsManaged = 8, kOrdinal = 9;  // HIP_POINTER_ATTRIBUTE_
  static constexpr int kDeviceMemoryOf5 = 1, kDeviceMemory = 2;        // hipMemoryTypeDevice
  static constexpr int kVersion6 = 60000000;                           // of hipRuntimeGetVersion
  static constexpr unsigned kNonBlocking = 1;                          // hipStreamNonBlocking
  static constexpr unsigned kPortable = 1;                             // hipHostRegisterPortable
  static constexpr int kNotReady = 600;                                // hipErrorNotReady

  int (*runtime_get_version)(int* version);
  int (*pointer_get_attribute)(void* value, int attribute, const void* address);
  const char* (*get_error_string)(int error);
  int (*peek_at_last_error)();
  int (*get_last_error)();
  int (*get_device)(int* device);
  int (*set_device)(int device);
  int (*stream_create)(void** stream, unsigned flags);
  int (*stream_synchronize)(void* stream);
  int (*stream_query)(void* stream);
  int (*stream_destroy)(void* stream);
  int (*copy_to_host)(void* to, const void* from, std::size_t bytes, void* stream);
  int (*copy_to_device)(void* to, const void* from, std::size_t bytes, void* stream);
  int (*pin)(void* memory, std::size_t bytes, unsigned flags);
  int (*unpin)(void* memory);
  int (*launch_host_function)(void* stream, void (*function)(void*), void* argument);  // late in 5

  bool find(void* library) {
    find_in(library, "hipLaunchHostFunc", launch_host_function);
    return find_in(library, "hipRuntimeGetVersion", runtime_get_version) &&
           find_in(library, "hipPointerGetAttribute", pointer_get_attribute) &&
           find_in(library, "hipGetErrorString", get_error_string) &&
           find_in(library, "hipPeekAtLastError", peek_at_last_error) &&
           find_in(library, "hipGetLastError", get_last_error) &&
           find_in(library, "hipGetDevice", get_device) &&
           find_in(library, "hipSetDevice", set_device) &&
           find_in(library, "hipStreamCreateWithFlags", stream_create) &&
           find_in(library, "hipStreamSynchronize", stream_synchronize) &&
           (find_in(library, "hipStreamQuery", stream_query) ||
            find_in(library, "hipStreamSynchronize", stream_query)) &&
           find_in(library, "hipStreamDestroy", stream_destroy) &&
           find_in(library, "hipHostRegister", pin) &&
           find_in(library, "hipHostUnregister", unpin) &&
           find_in(library, "hipMemcpyDtoHAsync", copy_to_host) &&
           find_in(library, "hipMemcpyHtoDAsync", copy_to_device);
  }
  void require(int error, const char* function) const {
    if (error != 0) cannot_copy(function, error, get_error_string(error));
  }
  /// The result of a call that may fail without the program's hipGetLastError telling of it. An
  /// error that was there before stays.
  template <class Call>
  int quietly(Call&& call) const {
    const int before = peek_at_last_error();
    const int error = call();
    if (error != 0 && before == 0) get_last_error();
    return error;
  }
};

class HipCopies final : public DeviceCopies {
 public:
  HipCopies(const Hip& hip, const void* on_device) : hip_(hip) {
    int device = 0;
    int current = 0;
    hip_.require(hip_.pointer_get_attribute(&device, Hip::kOrdinal, on_device),
                 "hipPointerGetAttribute");
    hip_.require(hip_.get_device(&current), "hipGetDevice");
    if (device != current) hip_.require(hip_.set_device(device), "hipSetDevice");
    const int error = hip_.stream_create(&stream_, Hip::kNonBlocking);
    if (device != current) hip_.set_device(current);
    hip_.require(error, "hipStreamCreateWithFlags");
  }

  ~HipCopies() override {
    hip_.stream_synchronize(stream_);  // after an error: copies may be under way
    hip_.stream_destroy(stream_);
  }
  HipCopies(const HipCopies&) = delete;
  HipCopies& operator=(const HipCopies&) = delete;

  void to_host(std::byte* to, const void* from, std::size_t bytes) override {
    hip_.require(hip_.copy_to_host(to, from, bytes, stream_), "hipMemcpyDtoHAsync");
  }
  void to_device(void* to, const std::byte* from, std::size_t bytes) override {
    hip_.require(hip_.copy_to_device(to, from, bytes, stream_), "hipMemcpyHtoDAsync");
  }
  void end() override { hip_.require(hip_.stream_synchronize(stream_), "hipStreamSynchronize"); }
  bool tell(void (*function)(void*), void* argument) override {
    if (hip_.launch_host_function == nullptr) return false;
    hip_.require(hip_.launch_host_function(stream_, function, argument), "hipLaunchHostFunc");
    return true;
  }
  bool ended() override {
    const int error = hip_.quietly([&] { return hip_.stream_query(stream_); });
    if (error == Hip::kNotReady) return false;
    hip_.require(error, "hipStreamQuery");
    return true;
  }

 private:
  const Hip& hip_;
  void* stream_ = nullptr;
};

class HipPinned final : public Pinned {
 public:
  HipPinned(const Hip& hip, std::byte* memory) : hip_(hip), memory_(memory) {}
  ~HipPinned() override {
    hip_.quietly([&] { return hip_.unpin(memory_); });
  }
  HipPinned(const HipPinned&) = delete;
  HipPinned& operator=(const HipPinned&) = delete;

 private:
  const Hip& hip_;
  std::byte* const memory_;
};

class HipDriver final : public GpuDriver {
 public:
  Hip hip{};
  int device_memory = Hip::kDeviceMemory;

  // An address that HIP does not know is an error there.
  bool holds(const void* address) const override {
    int type = 0;
    int managed = 0;
    const bool known = hip.quietly([&] {
      return hip.pointer_get_attribute(&type, Hip::kMemoryType, address);
    }) == 0;
    if (!known || type != device_memory) return false;
    return hip.pointer_get_attribute(&managed, Hip::kIsManaged, address) != 0 || managed == 0;
  }
  std::unique_ptr<DeviceCopies> copies(const void* address) const override {
    return std::make_unique<HipCopies>(hip, address);
  }
  std::unique_ptr<Pinned> pin(const void* /*address*/, std::byte* memory,
                              std::size_t bytes) const override {
    const int error = hip.quietly([&] { return hip.pin(memory, bytes, Hip::kPortable); });
    return error == 0 ? std::make_unique<HipPinned>(hip, memory) : nullptr;
  }
};

}  // namespace

const GpuDriver* hip_in(void* library) {
  static auto& driver = *new HipDriver;  // never destroyed
  int version = 0;
  if (!driver.hip.find(library) || driver.hip.runtime_get_version(&version) != 0) return nullptr;
  driver.device_memory = version < Hip::kVersion6 ? Hip::kDeviceMemoryOf5 : Hip::kDeviceMemory;
  return &driver;
}

}  // namespace isthmus::face
