// Representations that the program registers: its functions convert.
#include <dlfcn.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <string_view>
#include <utility>

#include "coll/engine/party.hpp"
#include "core/base/mutex.hpp"
#include "mpi/datatype/datatype.hpp"
#include "mpi/datatype/map_of.hpp"
#include "mpi/file/file_error.hpp"
#include "mpi/file/representation.hpp"
#include "mpi/native/entry.hpp"
#include "mpi/process/require.hpp"

namespace isthmus::face {
namespace {

using Extent = std::function<int(MPI_Datatype type, MPI_Aint* extent)>;
/// Some items of one access: `position` of them have been converted.
using Convert = std::function<int(void* user, MPI_Datatype type, MPI_Count count, void* file,
                                  MPI_Offset position)>;

/// The program's functions.
struct Functions {
  Convert read, write;  ///< null: as in memory
  Extent extent;
  MPI_Count most = 0;  ///< items at once
};

struct OneEach final : BasicSizes {
  std::int64_t size(MPI_Datatype, std::int64_t) const override { return 1; }
};

void check_result(int code, const std::string& name, const char* what) {
  if (code == MPI_SUCCESS) return;
  throw MpiError(MPI_ERR_CONVERSION, "the function of the representation \"" + name + "\" that " +
                                         what + " returned the error " + std::to_string(code));
}

class Registered final : public Representation {
 public:
  Registered(std::string name, Functions functions)
      : Representation(std::move(name)), functions_(std::move(functions)) {}

  core::TypeMap in_file(MPI_Datatype type) const override { return map_with(type, Extents(*this)); }
  bool converts(Direction direction) const override {
    return (direction == Direction::Read ? functions_.read : functions_.write) != nullptr;
  }

  void write(const Memory& memory, std::span<std::byte> file) const override {
    const Items each = items_of(memory.type);
    convert(functions_.write, "writes", memory, each.number * memory.count, each, file);
  }
  std::uint64_t read(std::span<std::byte> file, const Memory& memory) const override {
    const Items each = items_of(memory.type);
    if (each.number == 0) return 0;
    // With several datatypes, items differ in size: then only whole elements count.
    const MPI_Count step = only_basic(memory.type) == MPI_DATATYPE_NULL ? each.number : 1;
    const MPI_Count whole =
        static_cast<MPI_Count>(file.size()) / (each.bytes / each.number * step) * step;
    convert(functions_.read, "reads", memory, whole, each, file);
    return packed_size(1, memory.type) * static_cast<std::uint64_t>(whole) /
           static_cast<std::uint64_t>(each.number);
  }

 private:
  class Extents final : public BasicSizes {
   public:
    explicit Extents(const Registered& of) : of_(of) {}
    std::int64_t size(MPI_Datatype type, std::int64_t) const override {
      MPI_Aint extent = 0;
      const Outside outside;
      const int code = of_.functions_.extent(type, &extent);
      check_result(code, of_.name(), "tells extents");
      if (extent <= 0) {
        throw MpiError(MPI_ERR_CONVERSION, "the representation \"" + of_.name() +
                                               "\" tells an extent that is not positive");
      }
      return extent;
    }

   private:
    const Registered& of_;
  };

  /// The basic elements of one element, and their bytes in a file.
  struct Items {
    MPI_Count number = 0;
    std::int64_t bytes = 0;
  };
  Items items_of(MPI_Datatype type) const {
    return {static_cast<MPI_Count>(map_with(type, OneEach()).size()), in_file(type).size()};
  }

  void convert(const Convert& function, const char* what, const Memory& memory, MPI_Count items,
               const Items& each, std::span<std::byte> file) const {
    // Each call gets as much as the function can count: whole elements, whose size in the file is
    // known.
    const MPI_Count step =
        std::max<MPI_Count>(functions_.most / std::max<MPI_Count>(each.number, 1), 1) * each.number;
    for (MPI_Count position = 0; position < items; position += step) {
      const MPI_Count count = std::min(step, items - position);
      const std::int64_t at = position / each.number * each.bytes;
      const Outside outside;
      const int code = function(memory.buffer, memory.type, count, file.data() + at, position);
      check_result(code, name(), what);
    }
  }

  const Functions functions_;
};

struct Representations {
  core::Mutex mutex;
  std::map<std::string, RepresentationRef> by_name GUARDED_BY(mutex);
};
Representations& representations() {
  static auto* const all = new Representations;  // never destroyed
  return *all;
}

void enter(const char* name, Functions functions) {
  const std::string text = name == nullptr ? "" : name;
  require(!text.empty() && text.size() < MPI_MAX_DATAREP_STRING, MPI_ERR_ARG,
          "the representation has no name, or one longer than MPI_MAX_DATAREP_STRING");
  require(functions.extent != nullptr, MPI_ERR_ARG,
          "the representation has no function that tells extents");
  const bool taken =
      text == "native" || text == "internal" || text == "external32" || registered(text) != nullptr;
  if (taken) throw MpiError(MPI_ERR_DUP_DATAREP, "there is a representation \"" + text + "\"");
  const core::Lock lock(representations().mutex);
  representations().by_name.emplace(text, std::make_shared<Registered>(text, std::move(functions)));
}

#ifdef MPICH_VERSION
// MPICH's Fortran layer hands Fortran's functions on as they are.
using FortranConvert = void(void*, MPI_Fint* type, MPI_Fint* count, void*, MPI_Offset*, void* state,
                            MPI_Fint* code);
using FortranExtent = void(MPI_Fint* type, MPI_Aint*, void* state, MPI_Fint* code);

bool is_fortran(const void* caller) {
  Dl_info where{};
  return dladdr(caller, &where) != 0 && where.dli_fname != nullptr &&
         std::string_view(where.dli_fname).find("fort") != std::string_view::npos;
}

Convert from_fortran(void* function, void* state) {
  Dl_info about{};
  const bool none = function == nullptr ||
                    (dladdr(function, &about) != 0 && about.dli_sname &&
                     std::string_view(about.dli_sname).starts_with("mpi_conversion_fn_null"));
  if (none) return nullptr;
  auto* const call = reinterpret_cast<FortranConvert*>(function);
  return [call, state](void* user, MPI_Datatype type, MPI_Count count, void* file,
                       MPI_Offset position) {
    MPI_Fint handle = static_cast<MPI_Fint>(type), few = static_cast<MPI_Fint>(count);
    MPI_Fint code = MPI_SUCCESS;
    call(user, &handle, &few, file, &position, state, &code);
    return static_cast<int>(code);
  };
}

Extent extent_from_fortran(void* function, void* state) {
  auto* const call = reinterpret_cast<FortranExtent*>(function);
  return [call, state](MPI_Datatype type, MPI_Aint* extent) {
    MPI_Fint handle = static_cast<MPI_Fint>(type), code = MPI_SUCCESS;
    call(&handle, extent, state, &code);
    return static_cast<int>(code);
  };
}
#endif

template <class Function>
Convert from_c(Function* function, void* state) {
  if (function == nullptr) return nullptr;
  return [function, state](void* user, MPI_Datatype type, MPI_Count count, void* file,
                           MPI_Offset position) {
    if constexpr (std::is_same_v<Function, MPI_Datarep_conversion_function>) {
      return function(user, type, static_cast<int>(count), file, position, state);
    } else {
      return function(user, type, count, file, position, state);
    }
  };
}

template <class Function>
Functions functions_of(Function* read, Function* write, MPI_Datarep_extent_function* extent,
                       void* state, [[maybe_unused]] const void* caller) {
  constexpr bool kSmall = std::is_same_v<Function, MPI_Datarep_conversion_function>;
  Functions made;
  made.most = kSmall ? std::numeric_limits<int>::max() : std::numeric_limits<MPI_Count>::max();
#ifdef MPICH_VERSION
  if (kSmall && is_fortran(caller)) {
    made.read = from_fortran(reinterpret_cast<void*>(read), state);
    made.write = from_fortran(reinterpret_cast<void*>(write), state);
    if (extent != nullptr) {
      made.extent = extent_from_fortran(reinterpret_cast<void*>(extent), state);
    }
    return made;
  }
#endif
  made.read = from_c(read, state);
  made.write = from_c(write, state);
  if (extent != nullptr) {
    made.extent = [extent, state](MPI_Datatype type, MPI_Aint* found) {
      return extent(type, found, state);
    };
  }
  return made;
}

}  // namespace

RepresentationRef registered(const std::string& name) {
  const core::Lock lock(representations().mutex);
  const auto found = representations().by_name.find(name);
  return found == representations().by_name.end() ? nullptr : found->second;
}

// Not the native library's: MPICH (5.0) aborts, and no library has views of them (2026-11).
//
// coverage: for files that span clusters; native ones, inside one cluster, know none
ISTHMUS_MPI(Register_datarep)
(const char* datarep, MPI_Datarep_conversion_function* read_conversion_fn,
 MPI_Datarep_conversion_function* write_conversion_fn,
 MPI_Datarep_extent_function* dtype_file_extent_fn, void* extra_state) {
  const void* const caller = __builtin_return_address(0);
  return shielded_file(MPI_FILE_NULL, "MPI_Register_datarep", [&] {
    enter(datarep, functions_of(read_conversion_fn, write_conversion_fn, dtype_file_extent_fn,
                                extra_state, caller));
  });
}

#if ISTHMUS_HAS_Register_datarep_c
ISTHMUS_MPI(Register_datarep_c)
(const char* datarep, MPI_Datarep_conversion_function_c* read_conversion_fn,
 MPI_Datarep_conversion_function_c* write_conversion_fn,
 MPI_Datarep_extent_function* dtype_file_extent_fn, void* extra_state) {
  return shielded_file(MPI_FILE_NULL, "MPI_Register_datarep_c", [&] {
    enter(datarep, functions_of(read_conversion_fn, write_conversion_fn, dtype_file_extent_fn,
                                extra_state, nullptr));
  });
}
#endif

}  // namespace isthmus::face
