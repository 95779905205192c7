// Every edge is a message of its own, straight to its rank. Edges to other clusters go first.
// Messages of one tag between two ranks arrive in order, so edges between the same ranks need no
// tags of their own. Empty edges need no message, as both ends know.
#include <stdexcept>

#include "coll/engine/buffer.hpp"
#include "coll/engine/phases.hpp"

namespace isthmus::coll {
namespace {

/// The edges of a rank to itself.
void copy_own(int me, const std::vector<OutEdge>& out, const std::vector<InEdge>& in) {
  auto next = in.begin();
  for (const OutEdge& edge : out) {
    if (edge.to != me) continue;
    while (next != in.end() && next->from != me) ++next;
    if (next == in.end() || next->data.size() != edge.data.size()) {
      throw std::logic_error("neighbors: the two ends of an edge differ");
    }
    copy(edge.data, (next++)->data);
  }
}

}  // namespace

Task neighbors(Party& party, std::vector<OutEdge> out, std::vector<InEdge> in) {
  const Layout& layout = party.layout();
  const int me = party.rank(), here = my_cluster(party);
  std::vector<Pending> under_way;
  for (const InEdge& edge : in) {
    if (edge.from == me || edge.data.empty()) continue;
    under_way.push_back(party.recv(edge.from, kTagNeighbors, edge.data));
  }
  for (const bool crossing : {true, false}) {
    for (const OutEdge& edge : out) {
      if (edge.to == me || edge.data.empty()) continue;
      if ((layout.cluster_of(edge.to) != here) != crossing) continue;
      under_way.push_back(party.send(edge.to, kTagNeighbors, edge.data));
    }
  }
  copy_own(me, out, in);
  for (auto& p : under_way) co_await p;
}

}  // namespace isthmus::coll
