// Facts of the feature matrix that training needs once.
#pragma once

#include <vector>

#include "linear/node.hpp"

namespace longtail {

/// ‖x_i‖² of every row.
std::vector<float> square_norms(const Examples& x, int threads);

/// The internal number of each feature: by falling number of rows that have it, -1 if none has. Gives how many have.
int64_t rank_features(const Examples& x, int threads, std::vector<int32_t>& rank);

}  // namespace longtail
