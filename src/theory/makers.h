// One maker a construction; the table in constructions.cpp is their only user.
#pragma once

#include <memory>

#include "theory/construction.h"

namespace headroom {

std::unique_ptr<Construction> make_full_rank();
std::unique_ptr<Construction> make_full_rank_encoder();
std::unique_ptr<Construction> make_talking_heads();
std::unique_ptr<Construction> make_random_average();
std::unique_ptr<Construction> make_equal_spacing();
std::unique_ptr<Construction> make_weighted_random();
std::unique_ptr<Construction> make_majority_vote();

}  // namespace headroom
