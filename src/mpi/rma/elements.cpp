#include "mpi/rma/elements.hpp"

#include <utility>
#include <vector>

#include "coll/engine/party.hpp"
#include "mpi/datatype/datatype.hpp"
#include "mpi/datatype/map_of.hpp"
#include "mpi/datatype/op_types.hpp"
#include "mpi/process/require.hpp"

namespace isthmus::face {
namespace {

using rma::Element;
using rma::Number;

enum class Sort { Signed, Unsigned, Real, Complex, Raw };

Number number_of(Sort sort, std::size_t size) {
  switch (sort) {
    case Sort::Signed:
      return size == 1   ? Number::I8
             : size == 2 ? Number::I16
             : size == 4 ? Number::I32
             : size == 8 ? Number::I64
                         : Number::Raw;
    case Sort::Unsigned:
      return size == 1   ? Number::U8
             : size == 2 ? Number::U16
             : size == 4 ? Number::U32
             : size == 8 ? Number::U64
                         : Number::Raw;
    case Sort::Real:
      return size == 4 ? Number::F32 : size == 8 ? Number::F64 : Number::Raw;
    case Sort::Complex:
      return size == 8 ? Number::C32 : size == 16 ? Number::C64 : Number::Raw;
    case Sort::Raw:
      break;
  }
  return Number::Raw;
}

struct KnownElement {
  MPI_Datatype type;
  Element element;
};

class Elements {
 public:
  Elements() {
    for (const MPI_Datatype type :
         {MPI_CHAR, MPI_SIGNED_CHAR, MPI_SHORT, MPI_INT, MPI_LONG, MPI_LONG_LONG_INT, MPI_INT8_T,
          MPI_INT16_T, MPI_INT32_T, MPI_INT64_T, MPI_AINT, MPI_OFFSET, MPI_COUNT, MPI_INTEGER,
          MPI_LOGICAL, MPI_INTEGER1, MPI_INTEGER2, MPI_INTEGER4, MPI_INTEGER8}) {
      add(type, Sort::Signed);
    }
    for (const MPI_Datatype type :
         {MPI_UNSIGNED_CHAR, MPI_UNSIGNED_SHORT, MPI_UNSIGNED, MPI_UNSIGNED_LONG,
          MPI_UNSIGNED_LONG_LONG, MPI_UINT8_T, MPI_UINT16_T, MPI_UINT32_T, MPI_UINT64_T, MPI_BYTE,
          MPI_C_BOOL, MPI_CXX_BOOL}) {
      add(type, Sort::Unsigned);
    }
    for (const MPI_Datatype type :
         {MPI_FLOAT, MPI_DOUBLE, MPI_REAL, MPI_DOUBLE_PRECISION, MPI_REAL4, MPI_REAL8}) {
      add(type, Sort::Real);
    }
    for (const MPI_Datatype type :
         {MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX, MPI_CXX_FLOAT_COMPLEX, MPI_CXX_DOUBLE_COMPLEX,
          MPI_COMPLEX, MPI_DOUBLE_COMPLEX, MPI_COMPLEX8, MPI_COMPLEX16}) {
      add(type, Sort::Complex);
    }
    put(MPI_LONG_DOUBLE, plain(Number::Long));
    put(MPI_C_LONG_DOUBLE_COMPLEX, plain(Number::CLong));
    put(MPI_CXX_LONG_DOUBLE_COMPLEX, plain(Number::CLong));
    pair<float, int>(MPI_FLOAT_INT, Number::F32, Number::I32);
    pair<double, int>(MPI_DOUBLE_INT, Number::F64, Number::I32);
    pair<long, int>(MPI_LONG_INT, Number::I64, Number::I32);
    pair<short, int>(MPI_SHORT_INT, Number::I16, Number::I32);
    pair<int, int>(MPI_2INT, Number::I32, Number::I32);
    pair<long double, int>(MPI_LONG_DOUBLE_INT, Number::Long, Number::I32);
    pair<float, float>(MPI_2REAL, Number::F32, Number::F32);
    pair<double, double>(MPI_2DOUBLE_PRECISION, Number::F64, Number::F64);
    pair<int, int>(MPI_2INTEGER, Number::I32, Number::I32);
  }

  const Element* find(MPI_Datatype type) const {
    for (const KnownElement& known : known_) {
      if (known.type == type) return &known.element;
    }
    return nullptr;
  }

 private:
  void put(MPI_Datatype type, const Element& element) {
    if (type != MPI_DATATYPE_NULL) known_.push_back({type, element});
  }
  void add(MPI_Datatype type, Sort sort) {
    if (type == MPI_DATATYPE_NULL) return;
    const std::size_t size = packed_size(1, type);
    const Number number = number_of(sort, size);
    if (size > 0) put(type, number == Number::Raw ? rma::raw(size) : rma::plain(number));
  }
  template <class Value, class Index>
  void pair(MPI_Datatype type, Number value, Number index) {
    struct Pair {
      Value value;
      Index index;
    };
    put(type, rma::pair_of(value, index, offsetof(Pair, index), sizeof(Pair)));
  }

  std::vector<KnownElement> known_;
};

/// The elements of MPI_Type_create_f90_real and its like, by the call that made them.
Element element_of_kind(MPI_Datatype type) {
  const std::size_t size = packed_size(1, type);
  int integers = 0, addresses = 0, types = 0, combiner = MPI_COMBINER_NAMED;
  native.Type_get_envelope(type, &integers, &addresses, &types, &combiner);
  const Sort sort = combiner == MPI_COMBINER_F90_INTEGER   ? Sort::Signed
                    : combiner == MPI_COMBINER_F90_REAL    ? Sort::Real
                    : combiner == MPI_COMBINER_F90_COMPLEX ? Sort::Complex
                                                           : Sort::Raw;
  const Number number = number_of(sort, size);
  return number == Number::Raw ? rma::raw(size) : rma::plain(number);
}

}  // namespace

rma::Element element_of(MPI_Datatype type) {
  static const Elements& elements = *new Elements;
  if (const Element* const found = elements.find(type)) return *found;
  const MPI_Datatype basic = is_predefined(type) ? type : only_basic(type);
  require(basic != MPI_DATATYPE_NULL, MPI_ERR_TYPE,
          "the datatype of an accumulate consists of elements of several predefined datatypes");
  if (const Element* const found = elements.find(basic)) return *found;
  return element_of_kind(basic);
}

rma::Combination combination_of(MPI_Op op, MPI_Count count, MPI_Datatype type) {
  using rma::Op;
  static const std::vector<std::pair<MPI_Op, Op>>& ops = *new std::vector<std::pair<MPI_Op, Op>>{
      {MPI_REPLACE, Op::Replace}, {MPI_NO_OP, Op::NoOp},    {MPI_SUM, Op::Sum},
      {MPI_PROD, Op::Prod},       {MPI_MAX, Op::Max},       {MPI_MIN, Op::Min},
      {MPI_LAND, Op::LogicalAnd}, {MPI_LOR, Op::LogicalOr}, {MPI_LXOR, Op::LogicalXor},
      {MPI_BAND, Op::BitAnd},     {MPI_BOR, Op::BitOr},     {MPI_BXOR, Op::BitXor},
      {MPI_MAXLOC, Op::MaxLoc},   {MPI_MINLOC, Op::MinLoc}};
  for (const auto& [handle, known] : ops) {
    if (handle != op) continue;
    if (count == 0) return {Op::NoOp, rma::raw(1)};
    const rma::Combination how{known, element_of(type)};
    if (known != Op::Replace && known != Op::NoOp && is_predefined(type)) check_op(op, type);
    require(rma::combines(how.op, how.element), MPI_ERR_OP,
            "the operation is not defined for elements of this datatype");
    return how;
  }
  throw MpiError(MPI_ERR_OP, "accumulates take predefined operations only");
}

}  // namespace isthmus::face
