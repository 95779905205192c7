// CUDA's driver. Its copies use a stream of their own, and the context of the memory.
#include <cstdint>

#include "coll/engine/mpi_error.hpp"
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
  static constexpr unsigned kPortable = 1;      // CU_MEMHOSTREGISTER_
  static constexpr int kNotReady = 600;         // CUDA_ERROR_

  int (*pointer_get_attribute)(void* value, int attribute, std::uintptr_t address);
  int (*get_error_string)(int error, const char** text);
  int (*push_context)(void* context);
  int (*pop_context)(void** context);
  int (*get_context)(void** context);
  int (*retain_primary)(void** context, int device);
  int (*release_primary)(int device);
  int (*stream_create)(void** stream, unsigned flags);
  int (*stream_synchronize)(void* stream);
  int (*stream_query)(void* stream);
  int (*stream_destroy)(void* stream);
  int (*copy_to_host)(void* to, std::uintptr_t from, std::size_t bytes, void* stream);
  int (*copy_to_device)(std::uintptr_t to, const void* from, std::size_t bytes, void* stream);
  // Null in old versions.
  int (*pin)(void* memory, std::size_t bytes, unsigned flags);
  int (*unpin)(void* memory);
  int (*launch_host_function)(void* stream, void (*function)(void*), void* argument);

  bool find(void* library) {
    find_in(library, "cuLaunchHostFunc", launch_host_function);
    find_in(library, "cuMemHostRegister_v2", pin);
    find_in(library, "cuMemHostUnregister", unpin);
    return find_in(library, "cuPointerGetAttribute", pointer_get_attribute) &&
           find_in(library, "cuGetErrorString", get_error_string) &&
           find_in(library, "cuCtxPushCurrent_v2", push_context) &&
           find_in(library, "cuCtxPopCurrent_v2", pop_context) &&
           find_in(library, "cuCtxGetCurrent", get_context) &&
           find_in(library, "cuDevicePrimaryCtxRetain", retain_primary) &&
           (find_in(library, "cuDevicePrimaryCtxRelease_v2", release_primary) ||
            find_in(library, "cuDevicePrimaryCtxRelease", release_primary)) &&
           find_in(library, "cuStreamCreate", stream_create) &&
           find_in(library, "cuStreamSynchronize", stream_synchronize) &&
           (find_in(library, "cuStreamQuery", stream_query) ||
            find_in(library, "cuStreamSynchronize", stream_query)) &&
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

/// The context of a device's memory. Memory of a pool has none of its own: then the current one or,
/// without one, the device's primary one. Throws as DeviceCopies does.
class CudaContext {
 public:
  CudaContext(const Cuda& cuda, const void* on_device) : cuda_(cuda) {
    const std::uintptr_t at = number(on_device);
    if (cuda_.pointer_get_attribute(&context_, Cuda::kContext, at) == 0 && context_ != nullptr) {
      return;
    }
    if (cuda_.get_context(&context_) == 0 && context_ != nullptr) return;
    cuda_.require(cuda_.pointer_get_attribute(&device_, Cuda::kOrdinal, at),
                  "cuPointerGetAttribute");
    cuda_.require(cuda_.retain_primary(&context_, device_), "cuDevicePrimaryCtxRetain");
    retained_ = true;
  }
  ~CudaContext() {
    if (retained_) cuda_.release_primary(device_);
  }
  CudaContext(const CudaContext&) = delete;
  CudaContext& operator=(const CudaContext&) = delete;

  int push() const { return cuda_.push_context(context_); }
  /// The program's own context is current again.
  void pop() const {
    void* ours = nullptr;
    cuda_.pop_context(&ours);
  }
  /// The result of a call of the driver in this context.
  template <class Call>
  int in(Call&& call) const {
    int error = push();
    if (error != 0) return error;
    error = call();
    pop();
    return error;
  }

 private:
  const Cuda& cuda_;
  void* context_ = nullptr;
  bool retained_ = false;
  int device_ = 0;
};

class CudaCopies final : public DeviceCopies {
 public:
  CudaCopies(const Cuda& cuda, const void* on_device) : cuda_(cuda), context_(cuda, on_device) {
    require(context_.in([&] { return cuda_.stream_create(&stream_, Cuda::kNonBlocking); }),
            "cuStreamCreate");
  }
  ~CudaCopies() override {
    context_.in([&] {
      cuda_.stream_synchronize(stream_);  // copies may be under way
      return cuda_.stream_destroy(stream_);
    });
  }
  CudaCopies(const CudaCopies&) = delete;
  CudaCopies& operator=(const CudaCopies&) = delete;

  void to_host(std::byte* to, const void* from, std::size_t bytes) override {
    require(context_.in([&] { return cuda_.copy_to_host(to, number(from), bytes, stream_); }),
            "cuMemcpyDtoHAsync");
  }
  void to_device(void* to, const std::byte* from, std::size_t bytes) override {
    require(context_.in([&] { return cuda_.copy_to_device(number(to), from, bytes, stream_); }),
            "cuMemcpyHtoDAsync");
  }
  void end() override {
    require(context_.in([&] { return cuda_.stream_synchronize(stream_); }), "cuStreamSynchronize");
  }
  bool tell(void (*function)(void*), void* argument) override {
    if (cuda_.launch_host_function == nullptr) return false;
    require(context_.in([&] { return cuda_.launch_host_function(stream_, function, argument); }),
            "cuLaunchHostFunc");
    return true;
  }
  bool ended() override {
    const int error = context_.in([&] { return cuda_.stream_query(stream_); });
    if (error == Cuda::kNotReady) return false;
    require(error, "cuStreamQuery");
    return true;
  }

 private:
  void require(int error, const char* function) const { cuda_.require(error, function); }

  const Cuda& cuda_;
  const CudaContext context_;
  void* stream_ = nullptr;
};

/// The context may be gone by the end: then the memory is not pinned any more either.
class CudaPinned final : public Pinned {
 public:
  CudaPinned(const Cuda& cuda, const void* on_device, std::byte* memory, std::size_t bytes)
      : cuda_(cuda), context_(cuda, on_device), memory_(memory) {
    cuda_.require(context_.in([&] { return cuda_.pin(memory, bytes, Cuda::kPortable); }),
                  "cuMemHostRegister");
  }
  ~CudaPinned() override {
    context_.in([&] { return cuda_.unpin(memory_); });
  }
  CudaPinned(const CudaPinned&) = delete;
  CudaPinned& operator=(const CudaPinned&) = delete;

 private:
  const Cuda& cuda_;
  const CudaContext context_;
  std::byte* const memory_;
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
  std::unique_ptr<Pinned> pin(const void* address, std::byte* memory,
                              std::size_t bytes) const override {
    if (cuda.pin == nullptr || cuda.unpin == nullptr) return nullptr;
    try {
      return std::make_unique<CudaPinned>(cuda, address, memory, bytes);
    } catch (const MpiError&) {
      return nullptr;
    }
  }
};

}  // namespace

const GpuDriver* cuda_in(void* library) {
  static auto& driver = *new CudaDriver;  // never destroyed
  return driver.cuda.find(library) ? &driver : nullptr;
}

}  // namespace isthmus::face
