// The examples of Boost.MPI's documentation one after the other; rank 0 prints what they find.

#include <algorithm>
#include <boost/mpi.hpp>
#include <boost/mpi/cartesian_communicator.hpp>
#include <boost/serialization/list.hpp>
#include <boost/serialization/map.hpp>
#include <boost/serialization/string.hpp>
#include <boost/serialization/vector.hpp>
#include <functional>
#include <iostream>
#include <list>
#include <map>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

namespace mpi = boost::mpi;

// A structure that Boost makes an MPI datatype of.
struct GpsPosition {
  int degrees = 0;
  int minutes = 0;
  float seconds = 0;
  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& degrees& minutes& seconds;
  }
};
BOOST_IS_MPI_DATATYPE(GpsPosition)
BOOST_IS_BITWISE_SERIALIZABLE(GpsPosition)

// Not an MPI datatype: it is sent as an archive.
struct Gathered {
  std::string name;
  std::map<int, std::vector<double>> values;
  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& name& values;
  }
};

namespace {

const std::string kNames[] = {"zero",   "one",      "two",      "three",  "four", "five",
                              "six",    "seven",    "eight",    "nine",   "ten",  "eleven",
                              "twelve", "thirteen", "fourteen", "fifteen"};

// Becomes an MPI operation.
struct TimesModulo {
  int operator()(int a, int b) const { return a * b % 1009; }
};

// A line of every rank, in order.
void tell(const mpi::communicator& world, const std::string& line) {
  std::vector<std::string> lines;
  mpi::gather(world, line, lines, 0);
  for (std::size_t rank = 0; rank < lines.size(); ++rank) {
    std::cout << "  " << rank << ": " << lines[rank] << std::endl;
  }
}

void hello(const mpi::communicator& world) {
  const int next = (world.rank() + 1) % world.size();
  const int before = (world.rank() + world.size() - 1) % world.size();
  std::string got;
  mpi::request requests[2];
  requests[0] = world.isend(next, 0, "hello from " + kNames[world.rank()]);
  requests[1] = world.irecv(before, 0, got);
  mpi::wait_all(requests, requests + 2);
  tell(world, got);
}

void broadcast(const mpi::communicator& world) {
  std::string text;
  if (world.rank() == world.size() - 1) text = "Hello, World!";
  mpi::broadcast(world, text, world.size() - 1);
  std::list<std::string> more;
  if (world.rank() == 0) more.assign(kNames, kNames + 16);
  mpi::broadcast(world, more, 0);
  tell(world, text + " " + std::to_string(more.size()) + " " + more.back());
}

void gather_and_scatter(const mpi::communicator& world) {
  const Gathered mine{kNames[world.rank()],
                      {{world.rank(), std::vector<double>(world.rank() * 100, 0.5)}}};
  std::vector<Gathered> all;
  mpi::all_gather(world, mine, all);
  std::size_t values = 0;
  std::string names;
  for (const Gathered& one : all) {
    names += one.name + " ";
    for (const auto& [rank, list] : one.values) values += list.size() + rank;
  }
  std::string part;
  std::vector<std::string> parts(kNames, kNames + world.size());
  mpi::scatter(world, parts, part, world.size() / 2);
  std::vector<int> sizes(world.size());
  std::iota(sizes.begin(), sizes.end(), 1);
  std::vector<int> own(world.rank() + 1, world.rank());
  std::vector<int> together(world.size() * (world.size() + 1) / 2);
  if (world.rank() == 0) {
    mpi::gatherv(world, own, together.data(), sizes, 0);
  } else {
    mpi::gatherv(world, own, 0);
  }
  const int sum = std::accumulate(together.begin(), together.end(), 0);
  tell(world, names + part + " " + std::to_string(values) + " " + std::to_string(sum));
}

void reductions(const mpi::communicator& world) {
  const int mine = (world.rank() * 7 + 5) % 16;
  int least = -1;
  mpi::reduce(world, mine, least, mpi::minimum<int>(), 0);
  std::string name;
  mpi::reduce(world, kNames[world.rank()] + " ", name, std::plus<std::string>(), 0);
  if (world.rank() == 0) std::cout << "  least " << least << ", " << name << std::endl;
  const int most = mpi::all_reduce(world, mine, mpi::maximum<int>());
  const auto longer = [](const std::string& a, const std::string& b) {
    return a.size() >= b.size() ? a : b;
  };
  const std::string longest = mpi::all_reduce(world, kNames[world.rank()], longer);
  const int before = mpi::scan(world, mine, std::plus<int>());
  const std::string said = mpi::scan(world, kNames[world.rank()], std::plus<std::string>());
  const int multiplied = mpi::all_reduce(world, mine + 1, TimesModulo());
  std::ostringstream line;
  line << most << " " << longest << " " << before << " " << said << " " << multiplied;
  tell(world, line.str());
}

void all_to_all(const mpi::communicator& world) {
  std::vector<std::string> out;
  for (int to = 0; to < world.size(); ++to) {
    out.push_back(kNames[world.rank()] + "-" + std::string(to, 'x'));
  }
  std::vector<std::string> in;
  mpi::all_to_all(world, out, in);
  std::vector<int> numbers(world.size(), world.rank());
  std::vector<int> exchanged;
  mpi::all_to_all(world, numbers, exchanged);
  std::string line;
  for (int from = 0; from < world.size(); ++from) {
    line += in[from] + "," + std::to_string(exchanged[from]) + " ";
  }
  tell(world, line);
}

// Even ranks make data, the first odd rank takes it: point-to-point beside collectives of groups.
// Unlike in the documentation each says itself that it is done: a message of another rank may pass.
void generate_and_collect(const mpi::communicator& world) {
  const bool makes = world.rank() % 2 == 0;
  const mpi::communicator local = world.split(makes ? 0 : 1);
  const int collector = 1;
  std::size_t count = 0;
  std::size_t numbers = 0;
  enum { Data, Done };
  if (makes) {
    for (int round = 0; round < 5; ++round) {
      world.send(collector, Data, std::vector<int>(round * 1000 + local.rank(), round));
    }
    world.send(collector, Done);
  } else if (local.rank() == 0) {
    int makers = (world.size() + 1) / 2;
    while (makers > 0) {
      const mpi::status message = world.probe();
      if (message.tag() == Done) {
        world.recv(message.source(), Done);
        --makers;
        continue;
      }
      std::vector<int> data;
      world.recv(message.source(), message.tag(), data);
      ++count;
      numbers += data.size();
    }
  }
  local.barrier();
  tell(world, std::to_string(count) + " lists, " + std::to_string(numbers) + " numbers");
}

// Two groups, by parity, and what each rank of one hears of the other.
void between_groups(const mpi::communicator& world) {
  const bool left = world.rank() % 2 == 0;
  const mpi::communicator local = world.split(left ? 0 : 1);
  const mpi::intercommunicator other(local, 0, world, left ? 1 : 0);
  std::string got;
  mpi::request sent;
  if (local.rank() < other.remote_size()) {
    sent = other.isend(local.rank(), 3, "from " + kNames[world.rank()]);
  }
  if (local.rank() < other.remote_size()) other.recv(local.rank(), 3, got);
  if (sent.active()) sent.wait();
  const mpi::communicator merged = other.merge(!left);
  tell(world, got + ", " + std::to_string(other.local_size()) + "+" +
                  std::to_string(other.remote_size()) + ", merged " +
                  std::to_string(merged.rank()));
}

void skeletons(const mpi::communicator& world) {
  std::list<int> numbers;
  if (world.rank() == 0) {
    numbers.resize(10000);
    std::iota(numbers.begin(), numbers.end(), 17);
  }
  mpi::broadcast(world, mpi::skeleton(numbers), 0);
  mpi::broadcast(world, mpi::get_content(numbers), 0);
  if (world.rank() == 0) std::reverse(numbers.begin(), numbers.end());
  mpi::broadcast(world, mpi::get_content(numbers), 0);
  tell(world, std::to_string(numbers.size()) + " " + std::to_string(numbers.front()) + " " +
                  std::to_string(std::accumulate(numbers.begin(), numbers.end(), 0L)));
}

void structures(const mpi::communicator& world) {
  GpsPosition here{world.rank(), 2 * world.rank(), 0.5F};
  std::vector<GpsPosition> all(world.size());
  mpi::all_gather(world, here, all.data());
  GpsPosition from_last{};
  mpi::request arrives = world.irecv(mpi::any_source, 9, from_last);
  const mpi::group first(world.group());
  world.send((world.rank() + 1) % world.size(), 9, here);
  const mpi::status status = arrives.wait();
  const std::vector<mpi::cartesian_dimension> whole{{world.size(), true}};
  const mpi::cartesian_communicator ring(world, mpi::cartesian_topology(whole), false);
  const auto [source, to] = ring.shifted_ranks(0, 1);
  std::ostringstream line;
  line << all.back().degrees << " " << from_last.minutes << " " << status.source() << " "
       << status.tag() << " " << first.size() << " " << source << " " << to;
  tell(world, line.str());
}

// Requests of all kinds complete in any order.
void requests(const mpi::communicator& world) {
  std::vector<mpi::request> requests;
  std::vector<std::vector<std::string>> got(world.size());
  for (int from = 0; from < world.size(); ++from) {
    requests.push_back(world.irecv(from, 20, got[from]));
  }
  for (int to = 0; to < world.size(); ++to) {
    requests.push_back(
        world.isend(to, 20, std::vector<std::string>(to * 50, kNames[world.rank()])));
  }
  std::size_t done = 0;
  while (!requests.empty()) {
    const auto [status, which] = mpi::wait_any(requests.begin(), requests.end());
    requests.erase(which);
    ++done;
  }
  std::size_t strings = 0;
  for (const auto& list : got) strings += list.size();
  tell(world, std::to_string(done) + " " + std::to_string(strings));
}

}  // namespace

int main(int argc, char** argv) {
  const mpi::environment environment(argc, argv);
  const mpi::communicator world;
  const std::pair<const char*, void (*)(const mpi::communicator&)> examples[] = {
      {"hello", hello},
      {"broadcast", broadcast},
      {"gather and scatter", gather_and_scatter},
      {"reductions", reductions},
      {"all to all", all_to_all},
      {"generate and collect", generate_and_collect},
      {"between groups", between_groups},
      {"skeletons", skeletons},
      {"structures", structures},
      {"requests", requests},
  };
  for (const auto& [name, example] : examples) {
    if (world.rank() == 0) std::cout << name << std::endl;
    example(world);
  }
}
