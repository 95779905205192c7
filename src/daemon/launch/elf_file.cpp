#include "daemon/launch/elf_file.hpp"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <bit>
#include <cstring>
#include <utility>

#include "daemon/host/file_descriptor.hpp"

namespace isthmus::daemon {
namespace {

using Header = ElfW(Ehdr);
using Segment = ElfW(Phdr);
using Section = ElfW(Shdr);
using Symbol = ElfW(Sym);
using Dynamic = ElfW(Dyn);

constexpr unsigned char kClass = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32;
constexpr unsigned char kData =
    std::endian::native == std::endian::little ? ELFDATA2LSB : ELFDATA2MSB;

}  // namespace

std::optional<ElfFile> ElfFile::open(const std::string& path) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat about {};
  if (!file || fstat(file.get(), &about) != 0 || !S_ISREG(about.st_mode)) return std::nullopt;
  const auto size = static_cast<std::size_t>(about.st_size);
  if (size < sizeof(Elf32_Ehdr)) return std::nullopt;
  void* mapped = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (mapped == MAP_FAILED) return std::nullopt;
  ElfFile result({static_cast<const std::byte*>(mapped), size});
  if (std::memcmp(mapped, ELFMAG, SELFMAG) != 0) return std::nullopt;
  return result;
}

ElfFile::ElfFile(ElfFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

ElfFile::~ElfFile() {
  if (!bytes_.empty()) munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

template <class T>
const T* ElfFile::at(std::uint64_t offset) const {
  if (offset > bytes_.size() || bytes_.size() - offset < sizeof(T) || offset % alignof(T) != 0) {
    return nullptr;
  }
  return reinterpret_cast<const T*>(bytes_.data() + offset);
}

std::uint16_t ElfFile::machine() const {
  // Byte order is the file's; e_machine is at the same place in both word sizes.
  const auto low = std::to_integer<unsigned>(bytes_[offsetof(Elf32_Ehdr, e_machine)]);
  const auto high = std::to_integer<unsigned>(bytes_[offsetof(Elf32_Ehdr, e_machine) + 1]);
  const bool little = std::to_integer<unsigned>(bytes_[EI_DATA]) == ELFDATA2LSB;
  return static_cast<std::uint16_t>(little ? low | high << 8 : high | low << 8);
}

bool ElfFile::native_form() const {
  return std::to_integer<unsigned char>(bytes_[EI_CLASS]) == kClass &&
         std::to_integer<unsigned char>(bytes_[EI_DATA]) == kData && at<Header>(0) != nullptr;
}

std::string ElfFile::interpreter() const {
  if (!native_form()) return {};
  const Header* header = at<Header>(0);
  for (unsigned i = 0; i < header->e_phnum; ++i) {
    const auto* segment = at<Segment>(header->e_phoff + i * sizeof(Segment));
    if (segment == nullptr) return {};
    if (segment->p_type != PT_INTERP) continue;
    if (segment->p_offset > bytes_.size() ||
        segment->p_filesz > bytes_.size() - segment->p_offset) {
      return {};
    }
    const auto* text = reinterpret_cast<const char*>(bytes_.data() + segment->p_offset);
    return {text, strnlen(text, segment->p_filesz)};
  }
  return {};
}

std::string_view ElfFile::strings(std::uint32_t section) const {
  const Header* header = at<Header>(0);
  if (section >= header->e_shnum) return {};
  const auto* names = at<Section>(header->e_shoff + section * sizeof(Section));
  if (names == nullptr || names->sh_offset > bytes_.size()) return {};
  return {reinterpret_cast<const char*>(bytes_.data() + names->sh_offset),
          std::min<std::uint64_t>(names->sh_size, bytes_.size() - names->sh_offset)};
}

std::string ElfFile::soname() const {
  if (!native_form()) return {};
  const Header* header = at<Header>(0);
  for (unsigned i = 0; i < header->e_shnum; ++i) {
    const auto* table = at<Section>(header->e_shoff + i * sizeof(Section));
    if (table == nullptr) return {};
    if (table->sh_type != SHT_DYNAMIC) continue;
    const std::string_view texts = strings(table->sh_link);
    for (std::uint64_t k = 0; k < table->sh_size / sizeof(Dynamic); ++k) {
      const auto* entry = at<Dynamic>(table->sh_offset + k * sizeof(Dynamic));
      if (entry == nullptr || entry->d_tag == DT_NULL) return {};
      if (entry->d_tag != DT_SONAME || entry->d_un.d_val >= texts.size()) continue;
      const std::string_view rest = texts.substr(entry->d_un.d_val);
      return std::string(rest.substr(0, rest.find('\0')));
    }
  }
  return {};
}

bool ElfFile::defines(std::uint32_t table_type, std::string_view name) const {
  if (!native_form()) return false;
  const Header* header = at<Header>(0);
  for (unsigned i = 0; i < header->e_shnum; ++i) {
    const auto* table = at<Section>(header->e_shoff + i * sizeof(Section));
    if (table == nullptr) return false;
    if (table->sh_type != table_type) continue;
    const std::string_view texts = strings(table->sh_link);
    for (std::uint64_t k = 0; k < table->sh_size / sizeof(Symbol); ++k) {
      const auto* symbol = at<Symbol>(table->sh_offset + k * sizeof(Symbol));
      if (symbol == nullptr) break;
      if (symbol->st_shndx == SHN_UNDEF || symbol->st_name >= texts.size()) continue;
      const std::string_view rest = texts.substr(symbol->st_name);
      if (rest.size() > name.size() && rest[name.size()] == '\0' && rest.starts_with(name)) {
        return true;
      }
    }
  }
  return false;
}

bool ElfFile::has_symbols() const {
  if (!native_form()) return false;
  const Header* header = at<Header>(0);
  for (unsigned i = 0; i < header->e_shnum; ++i) {
    const auto* table = at<Section>(header->e_shoff + i * sizeof(Section));
    if (table != nullptr && table->sh_type == SHT_SYMTAB) return true;
  }
  return false;
}

bool ElfFile::holds(std::string_view text) const {
  return memmem(bytes_.data(), bytes_.size(), text.data(), text.size()) != nullptr;
}

bool ElfFile::exports(std::string_view name) const { return defines(SHT_DYNSYM, name); }
bool ElfFile::contains(std::string_view name) const { return defines(SHT_SYMTAB, name); }

std::string ElfFile::machine_name(std::uint16_t machine) {
  switch (machine) {
    case EM_386:
      return "x86 (32 bit)";
    case EM_X86_64:
      return "x86-64";
    case EM_ARM:
      return "ARM (32 bit)";
    case EM_AARCH64:
      return "AArch64";
    case EM_PPC64:
      return "POWER (64 bit)";
    case EM_S390:
      return "IBM Z";
    case 243:  // EM_RISCV, absent from old elf.h
      return "RISC-V";
    default:
      return "machine " + std::to_string(machine);
  }
}

}  // namespace isthmus::daemon
