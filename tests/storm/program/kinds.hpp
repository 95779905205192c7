// The kinds of steps. Each is legal MPI that every process of a party plays.
#pragma once

#include <vector>

#include "step.hpp"

namespace storm {

struct Kind {
  const char* name;
  void (*play)(Step&);
  int weight;          ///< how often it is drawn
  bool once = false;   ///< not in several threads of a process at a time
  bool nests = false;  ///< plays other steps within it
  bool spans = false;  ///< over a grid only on communicators of several clusters: else it is native
};

extern const std::vector<Kind> kKinds;

void messages(Step& step);            // messages.cpp
void wildcards(Step& step);           // wildcards.cpp
void probes(Step& step);              // probes.cpp
void cancelled(Step& step);           // cancelled.cpp
void freed(Step& step);               // freed.cpp
void buffered(Step& step);            // buffered.cpp
void persistent(Step& step);          // persistent.cpp
void partitioned(Step& step);         // partitioned.cpp
void exchanges(Step& step);           // exchanges.cpp
void crowds(Step& step);              // crowds.cpp
void collectives(Step& step);         // collectives.cpp
void reductions(Step& step);          // reductions.cpp
void layouts(Step& step);             // layouts.cpp
void typed_collectives(Step& step);   // collectives.cpp
void communicators(Step& step);       // communicators.cpp
void intercommunicators(Step& step);  // intercommunicators.cpp
void topologies(Step& step);          // topologies.cpp
void files(Step& step);               // files.cpp
void windows(Step& step);             // windows.cpp
void sums(Step& step);                // sums.cpp
void many_gets(Step& step);           // many_gets.cpp
void spawned(Step& step);             // spawned.cpp
void threads(Step& step);             // threads.cpp

/// A spawned process plays this. `root` is the rank of the parents that spawned it.
void play_as_child(MPI_Comm parent, int root);  // spawned.cpp

/// Sends that are freed right before MPI_Finalize, which has to complete them.
void last_words(Party& world);  // freed.cpp

}  // namespace storm
