#include "kinds.hpp"
namespace storm {
void layouts(Step&){} void crowds(Step&){} void communicators(Step&){} void intercommunicators(Step&){}
void topologies(Step&){} void files(Step&){} void spawned(Step&){} void threads(Step&){} void play_as_child(MPI_Comm){}
}
