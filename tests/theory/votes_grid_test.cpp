// Science A.5's whole grid of true optima, 20 draws a cell. Slow.
#include <gtest/gtest.h>

#include <cstdio>

#include "config/read.h"
#include "theory/construction.h"

namespace headroom::votes_grid_test {

TEST(VotesGrid, TheOptimaAreThoseOfScience) {
  struct Cell {
    int dim, heads;
    double loss;
  };
  for (const Cell& cell :
       {Cell{8, 64, .303}, Cell{8, 256, .205}, Cell{8, 1024, .175}, Cell{16, 64, .385},
        Cell{16, 256, .262}, Cell{16, 1024, .197}, Cell{32, 64, .437}, Cell{32, 256, .327},
        Cell{32, 1024, .230}, Cell{64, 64, .470}, Cell{64, 256, .388}, Cell{64, 1024, .277}}) {
    constexpr int kDraws = 20;
    double sum = 0;
    for (int draw = 0; draw < kDraws; ++draw)
      for (const ConstructionRow& row : construction_rows()) {
        if (std::string(row.name) != "weighted_random") continue;
        const std::unique_ptr<Construction> construction = row.make();
        Fields settings;
        construction->declare(settings);
        read_settings(settings, std::vector<std::string>{"dim=" + std::to_string(cell.dim),
                                                         "heads=" + std::to_string(cell.heads),
                                                         "seed=" + std::to_string(draw)});
        sum += *construction->expected_loss();
      }
    std::printf("dim %d heads %d: %.4f (science %.3f)\n", cell.dim, cell.heads, sum / kDraws,
                cell.loss);
    EXPECT_NEAR(sum / kDraws, cell.loss, .01);
  }
}

}  // namespace headroom::votes_grid_test
