// A bounded reader of what Isthmus has to know about an ELF file. Never trusts an offset in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace isthmus::daemon {

class ElfFile {
 public:
  /// Null when the file cannot be read or does not begin as ELF files do.
  static std::optional<ElfFile> open(const std::string& path);
  ElfFile(ElfFile&& other) noexcept;
  ElfFile& operator=(ElfFile&&) = delete;
  ~ElfFile();

  /// EM_X86_64 and so on.
  std::uint16_t machine() const;
  /// Whether it is of this process's word size and byte order; the functions below need that and
  /// otherwise find nothing.
  bool native_form() const;
  /// The dynamic loader it asks for; empty for static programs and for libraries.
  std::string interpreter() const;
  /// The name by which programs ask for this library (DT_SONAME); empty without one.
  std::string soname() const;
  /// Whether its dynamic symbol table defines `name`.
  bool exports(std::string_view name) const;
  /// Whether its full symbol table (absent when stripped) defines `name`.
  bool contains(std::string_view name) const;

  /// Whether it has a full symbol table.
  bool has_symbols() const;
  /// Whether its bytes contain `text` somewhere.
  bool holds(std::string_view text) const;

  /// "x86-64", "AArch64", ... or "machine 123".
  static std::string machine_name(std::uint16_t machine);

 private:
  explicit ElfFile(std::span<const std::byte> bytes) : bytes_(bytes) {}
  template <class T>
  const T* at(std::uint64_t offset) const;
  std::string_view strings(std::uint32_t section) const;  // of a table of them; else empty
  bool defines(std::uint32_t table_type, std::string_view name) const;

  std::span<const std::byte> bytes_;  // the mapped file
};

}  // namespace isthmus::daemon
