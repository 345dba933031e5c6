#include "text/chars.hpp"

#include <atomic>
#include <memory>
#include <mutex>
#include <stdexcept>

namespace longtail {

namespace {

std::mutex install_mutex;
std::atomic<const CharTables*> installed_tables{nullptr};
std::atomic<const CharMap*> installed_accents[3] = {{nullptr}, {nullptr}, {nullptr}};

void check_map(const CharMap& map) {
  if (map.target.size() != kCodePoints) throw std::invalid_argument("character map: one entry per code point is expected");
  if (map.starts.empty() || map.starts.front() != 0 || map.starts.back() != map.chars.size())
    throw std::invalid_argument("character map: starts must go from 0 to the number of characters");
  for (size_t i = 1; i < map.starts.size(); ++i)
    if (map.starts[i] < map.starts[i - 1]) throw std::invalid_argument("character map: starts must rise");
  for (const uint32_t c : map.chars)
    if (c >= kCodePoints) throw std::invalid_argument("character map: not a code point");
  for (const uint32_t t : map.target) {
    const bool many = (t & CharMap::kMany) != 0;
    if (many ? (t & ~CharMap::kMany) + 1 >= map.starts.size() : t >= kCodePoints)
      throw std::invalid_argument("character map: a target is out of bounds");
  }
}

// Tables live as long as the process: threads may be reading them.
template <class T>
void publish(std::atomic<const T*>& place, T&& value) {
  std::lock_guard<std::mutex> lock(install_mutex);
  if (place.load() == nullptr) place.store(new T(std::move(value)));
}

}  // namespace

const CharTables* char_tables() { return installed_tables.load(std::memory_order_acquire); }

const CharMap* accent_map(Accents kind) {
  return installed_accents[static_cast<int>(kind)].load(std::memory_order_acquire);
}

void install_char_tables(CharTables tables) {
  if (tables.flags.size() != kCodePoints) throw std::invalid_argument("character flags: one per code point is expected");
  check_map(tables.lower);
  publish(installed_tables, std::move(tables));
}

void install_accent_map(Accents kind, CharMap map) {
  check_map(map);
  publish(installed_accents[static_cast<int>(kind)], std::move(map));
}

// [A-Za-z0-9_] are 1, white space (9 to 13, 28 to 32) is 2.
const uint8_t kAsciiFlags[256] = {
    0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 2, 2, 2, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 2, 2, 2,
    2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0,
    0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 1,
    0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
};

// A to Z become a to z.
const uint8_t kAsciiLower[256] = {
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
    32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63,
    64, 97, 98, 99, 100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 112, 113, 114, 115, 116, 117, 118, 119, 120, 121, 122, 91, 92, 93, 94, 95,
    96, 97, 98, 99, 100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 112, 113, 114, 115, 116, 117, 118, 119, 120, 121, 122, 123, 124, 125, 126, 127,
    128, 129, 130, 131, 132, 133, 134, 135, 136, 137, 138, 139, 140, 141, 142, 143, 144, 145, 146, 147, 148, 149, 150, 151, 152, 153, 154, 155, 156, 157, 158, 159,
    160, 161, 162, 163, 164, 165, 166, 167, 168, 169, 170, 171, 172, 173, 174, 175, 176, 177, 178, 179, 180, 181, 182, 183, 184, 185, 186, 187, 188, 189, 190, 191,
    192, 193, 194, 195, 196, 197, 198, 199, 200, 201, 202, 203, 204, 205, 206, 207, 208, 209, 210, 211, 212, 213, 214, 215, 216, 217, 218, 219, 220, 221, 222, 223,
    224, 225, 226, 227, 228, 229, 230, 231, 232, 233, 234, 235, 236, 237, 238, 239, 240, 241, 242, 243, 244, 245, 246, 247, 248, 249, 250, 251, 252, 253, 254, 255,
};

}  // namespace longtail
