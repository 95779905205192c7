// CUDA's driver. Its copies use a stream of their own, and the context of the memory or, if it has
// none, the current one or the device's primary one.
#include <cstdint>

#include "mpi/native/gpu_driver.hpp"

namespace isthmus::face {
namespace {

/// CUdeviceptr is an integer.
struct Cuda {
  // Values in cuda.h.
  static constexpr int kContext = 1, kMemoryType = 2, kIsManaged = 8,
                       kOrdinal = 9;            // CU_POINTER_ATTRIBUTE_
  static constexpr unsigned kDeviceMemory = 2;  // CU_MEMORYTYPE_DEVICE
  static constexpr unsigned kNonBlocking = 1;   // CU_STREAM_

  int (*pointer_get_attribute)(void* value, int attribute, std::uintptr_t address);
  int (*get_error_string)(int error, const char** text);
  int (*push_context)(void* context);
  int (*pop_context)(void** context);
  int (*get_context)(void** context);
  int (*retain_primary)(void** context, int device);
  int (*release_primary)(int device);
  int (*stream_create)(void** stream, unsigned flags);
  int (*stream_synchronize)(void* stream);
  int (*stream_destroy)(void* stream);
  int (*copy_to_host)(void* to, std::uintptr_t from, std::size_t bytes, void* stream);
  int (*copy_to_device)(std::uintptr_t to, const void* from, std::size_t bytes, void* stream);

  bool find(void* library) {
    return find_in(library, "cuPointerGetAttribute", pointer_get_attribute) &&
           find_in(library, "cuGetErrorString", get_error_string) &&
           find_in(library, "cuCtxPushCurrent_v2", push_context) &&
           find_in(library, "cuCtxPopCurrent_v2", pop_context) &&
           find_in(library, "cuCtxGetCurrent", get_context) &&
           find_in(library, "cuDevicePrimaryCtxRetain", retain_primary) &&
           find_in(library, "cuDevicePrimaryCtxRelease", release_primary) &&
           find_in(library, "cuStreamCreate", stream_create) &&
           find_in(library, "cuStreamSynchronize", stream_synchronize) &&
           find_in(library, "cuStreamDestroy_v2", stream_destroy) &&
           find_in(library, "cuMemcpyDtoHAsync_v2", copy_to_host) &&
           find_in(library, "cuMemcpyHtoDAsync_v2", copy_to_device);
  }
  void require(int error, const char* function) const {
    if (error == 0) return;
    const char* text = nullptr;
    get_error_string(error, &text);
    cannot_copy(function, error, text);
  }
};

std::uintptr_t number(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }

class CudaCopies final : public DeviceCopies {
 public:
  CudaCopies(const Cuda& cuda, const void* on_device) : cuda_(cuda) {
    // Memory of a pool has no context of its own.
    void* context = nullptr;
    void* current = nullptr;
    const bool named =
        cuda_.pointer_get_attribute(&context, Cuda::kContext, number(on_device)) == 0 &&
        context != nullptr;
    if (!named && (cuda_.get_context(&current) != 0 || current == nullptr)) {
      cuda_.require(cuda_.pointer_get_attribute(&device_, Cuda::kOrdinal, number(on_device)),
                    "cuPointerGetAttribute");
      cuda_.require(cuda_.retain_primary(&context, device_), "cuDevicePrimaryCtxRetain");
      retained_ = true;
    }
    if (context != nullptr) {
      const int error = cuda_.push_context(context);
      if (error != 0 && retained_) cuda_.release_primary(device_);
      cuda_.require(error, "cuCtxPushCurrent");
      pushed_ = true;
    }
    const int error = cuda_.stream_create(&stream_, Cuda::kNonBlocking);
    if (error != 0) leave();
    cuda_.require(error, "cuStreamCreate");
  }

  ~CudaCopies() override {
    cuda_.stream_synchronize(stream_);  // after an error: copies may be under way
    cuda_.stream_destroy(stream_);
    leave();
  }
  CudaCopies(const CudaCopies&) = delete;
  CudaCopies& operator=(const CudaCopies&) = delete;

  void to_host(std::byte* to, const void* from, std::size_t bytes) override {
    cuda_.require(cuda_.copy_to_host(to, number(from), bytes, stream_), "cuMemcpyDtoHAsync");
  }
  void to_device(void* to, const std::byte* from, std::size_t bytes) override {
    cuda_.require(cuda_.copy_to_device(number(to), from, bytes, stream_), "cuMemcpyHtoDAsync");
  }
  void end() override { cuda_.require(cuda_.stream_synchronize(stream_), "cuStreamSynchronize"); }

 private:
  // The program's own context is current again.
  void leave() {
    void* ours = nullptr;
    if (pushed_) cuda_.pop_context(&ours);
    if (retained_) cuda_.release_primary(device_);
  }

  const Cuda& cuda_;
  bool pushed_ = false;
  bool retained_ = false;
  int device_ = 0;
  void* stream_ = nullptr;
};

class CudaDriver final : public GpuDriver {
 public:
  Cuda cuda{};

  bool holds(const void* address) const override {
    unsigned type = 0;
    unsigned managed = 0;
    const std::uintptr_t at = number(address);
    if (cuda.pointer_get_attribute(&type, Cuda::kMemoryType, at) != 0 ||
        type != Cuda::kDeviceMemory) {
      return false;
    }
    return cuda.pointer_get_attribute(&managed, Cuda::kIsManaged, at) != 0 || managed == 0;
  }
  std::unique_ptr<DeviceCopies> copies(const void* address) const override {
    return std::make_unique<CudaCopies>(cuda, address);
  }
};

}  // namespace

const GpuDriver* cuda_in(void* library) {
  static auto& driver = *new CudaDriver;  // never destroyed
  return driver.cuda.find(library) ? &driver : nullptr;
}

}  // namespace isthmus::face
