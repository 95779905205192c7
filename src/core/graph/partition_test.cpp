#include "core/graph/partition.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace isthmus::core {
namespace {

using Parts = std::vector<int>;
using Edges = std::vector<Graph::Edge>;

/// rows x columns, perhaps a torus.
Graph grid(int rows, int columns, bool wraps = false) {
  Edges edges;
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < columns; ++c) {
      if (c + 1 < columns || wraps) {
        edges.push_back({r * columns + c, r * columns + (c + 1) % columns, 1});
      }
      if (r + 1 < rows || wraps)
        edges.push_back({r * columns + c, (r + 1) % rows * columns + c, 1});
    }
  }
  return Graph(rows * columns, edges);
}

Parts round_robin(int size, int parts) {
  Parts all;
  for (int v = 0; v < size; ++v) all.push_back(v % parts);
  return all;
}

void expect_cut(const Graph& graph, const Parts& given, std::int64_t most) {
  const Parts found = partition(graph, given);
  EXPECT_LE(cut(graph, found), most);
  EXPECT_LE(cut(graph, found), cut(graph, given));
  for (int p = 0; p <= *std::max_element(given.begin(), given.end()); ++p) {
    EXPECT_EQ(std::count(found.begin(), found.end(), p), std::count(given.begin(), given.end(), p));
  }
  EXPECT_EQ(partition(graph, given), found) << "all ranks must find the same";
}

TEST(Partition, MergesEdges) {
  const Graph graph(3, Edges{{0, 1, 2}, {1, 0, 3}, {2, 2, 9}});
  ASSERT_EQ(graph.neighbours(0).size(), 1U);
  EXPECT_EQ(graph.neighbours(0)[0].weight, 5);
  EXPECT_TRUE(graph.neighbours(2).empty());
  EXPECT_EQ(cut(graph, Parts{0, 1, 1}), 5);
}

TEST(Partition, OfNothing) {
  EXPECT_TRUE(partition(Graph(0, {}), {}).empty());
  EXPECT_EQ(partition(Graph(3, {}), Parts{1, 0, 1}), (Parts{1, 0, 1}));
  EXPECT_EQ(partition(Graph(1, {}), Parts{0}), Parts{0});
}

TEST(Partition, Ring) {
  for (const int size : {4, 5, 16, 33, 100}) {
    Edges edges;
    for (int v = 0; v < size; ++v) edges.push_back({v, (v + 1) % size, 1});
    expect_cut(Graph(size, edges), round_robin(size, 2), 2);
    expect_cut(Graph(size, edges), round_robin(size, 3), 3);
  }
}

TEST(Partition, Grids) {
  expect_cut(grid(8, 8), round_robin(64, 2), 8);
  expect_cut(grid(16, 4), round_robin(64, 2), 4);
  expect_cut(grid(4, 16), round_robin(64, 2), 4);
  expect_cut(grid(8, 8), round_robin(64, 4), 16);
  expect_cut(grid(8, 8, true), round_robin(64, 2), 16);
  expect_cut(grid(24, 24), round_robin(576, 4), 48);
  expect_cut(grid(6, 16, true), round_robin(96, 2), 12);
}

TEST(Partition, PartsOfUnequalSizes) {
  Parts given(64, 1);
  for (int v = 0; v < 64; v += 4) given[static_cast<std::size_t>(v)] = 0;
  expect_cut(grid(8, 8), given, 8);
}

TEST(Partition, TwoCliques) {
  Edges edges;
  for (int a = 0; a < 16; ++a) {
    for (int b = a + 2; b < 16; b += 2) edges.push_back({a, b, 1});
  }
  edges.push_back({3, 4, 1});
  Parts given(16, 0);
  std::fill(given.begin() + 8, given.end(), 1);
  expect_cut(Graph(16, edges), given, 1);
}

TEST(Partition, HeavyEdgesStayWithin) {
  // A ring in which every second edge is heavy, and an odd start that cuts through one.
  Edges edges;
  for (int v = 0; v < 12; ++v) edges.push_back({v, (v + 1) % 12, v % 2 == 0 ? 100 : 1});
  expect_cut(Graph(12, edges), round_robin(12, 2), 2);
}

TEST(Partition, WhatIsBestAlreadyStays) {
  Parts given(64, 0);
  std::fill(given.begin() + 32, given.end(), 1);
  EXPECT_EQ(partition(grid(8, 8), given), given);
}

TEST(Partition, NumberedAnyhow) {
  // Vertices of a grid under other names, as a program's own graph may have them.
  const int rows = 10, columns = 12;
  std::vector<int> name(120);
  for (int v = 0; v < 120; ++v) name[static_cast<std::size_t>(v)] = v * 77 % 120;
  Edges edges;
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < columns; ++c) {
      const auto at = [&](int y, int x) {
        return name[static_cast<std::size_t>(y) * columns + static_cast<std::size_t>(x)];
      };
      if (c + 1 < columns) edges.push_back({at(r, c), at(r, c + 1), 1});
      if (r + 1 < rows) edges.push_back({at(r, c), at(r + 1, c), 1});
    }
  }
  expect_cut(Graph(120, edges), round_robin(120, 2), 10);
}

TEST(Partition, ManyVertices) {
  expect_cut(grid(100, 100), round_robin(10000, 2), 100);
  expect_cut(grid(100, 100), round_robin(10000, 10), 820);
}

}  // namespace
}  // namespace isthmus::core
