#include "data/join.hpp"

#include <algorithm>
#include <cstring>

#include "core/parallel.hpp"

namespace longtail {

namespace {

/// Ids of the table for the names of a part, in their order; -1 is dropped. An unknown name is an error of the part.
std::vector<int32_t> map_names(Part& part, LabelTable& table) {
  std::vector<int32_t> ids(static_cast<size_t>(part.names.size()));
  for (int32_t local = 0; local < part.names.size(); ++local) {
    const char* name = part.names.begin_of(local);
    const size_t length = part.names.length_of(local);
    int32_t& id = ids[static_cast<size_t>(local)];
    id = table.fixed ? table.names.find(name, length) : table.names.add(name, length);
    if (id < 0 && !table.drop_unknown) {
      part.fail(part.name_lines[static_cast<size_t>(local)],
                "label " + quoted(name, name + length) + " is not one of the " + grouped(table.names.size()) + " known labels");
      break;
    }
  }
  return ids;
}

/// Notes an error when labels are ids here and names elsewhere.
void check_kind(Part& part, LabelTable& table) {
  for (const auto kind : {LabelKind::ids, LabelKind::names}) {
    const Presence& seen = kind == LabelKind::ids ? part.label_ids : part.label_names;
    if (seen.first_with < 0) continue;
    if (table.kind == LabelKind::unknown) table.kind = kind;
    if (table.kind != kind) part.fail(seen.first_with, "labels must all be names or all be ids, not both");
  }
}

/// Replaces local ids by those of `map` (empty: they stay), drops -1, sorts and merges each row.
void finish_labels(Part& part, const std::vector<int32_t>& map) {
  int32_t* ids = part.y.ids.data();
  size_t read = 0, write = 0;
  for (size_t row = 0; row < part.y.counts.size(); ++row) {
    const size_t begin = write;
    const int64_t line = part.row_lines[row];
    for (int32_t i = 0; i < part.y.counts[row]; ++i, ++read) {
      const int32_t id = map.empty() ? ids[read] : map[static_cast<size_t>(ids[read])];
      if (id < 0) part.repairs.note(kUnknownLabels, line);
      else ids[write++] = id;
    }
    std::sort(ids + begin, ids + write);
    const size_t kept = static_cast<size_t>(std::unique(ids + begin, ids + write) - ids);
    part.repairs.note(kDuplicateLabels, line, static_cast<int64_t>(write - kept));
    write = kept;
    part.y.counts[row] = static_cast<int32_t>(write - begin);
  }
  part.y.ids.resize_down(write);
}

template <class T>
void concatenate(std::vector<Part>& parts, SparseRows Part::*rows, Grow<T> SparseRows::*member, Grow<T>& out) {
  if (parts.size() == 1) {
    out.swap((parts[0].*rows).*member);
    return;
  }
  size_t total = 0;
  for (auto& part : parts) total += ((part.*rows).*member).size();
  out.room(total);
  for (auto& part : parts) {
    Grow<T>& piece = (part.*rows).*member;
    out.append(piece.data(), piece.size());
    Grow<T>().swap(piece);
  }
}

}  // namespace

Joined join_parts(std::vector<Part>& parts, LabelTable* table, int threads) {
  Joined out;
  std::vector<std::vector<int32_t>> maps(parts.size());
  for (size_t i = 0; i < parts.size(); ++i) {
    Part& part = parts[i];
    if (table != nullptr) {
      check_kind(part, *table);
      if (!part.failed) maps[i] = map_names(part, *table);
    }
    if (part.failed) {
      out.failed = true;
      out.error_line = out.lines + part.error_line;
      out.error = part.error;
      return out;
    }
    out.lines += part.lines;
  }
  if (table != nullptr) {
    parallel_for(static_cast<int64_t>(parts.size()), threads,
                 [&](int64_t i, int) { finish_labels(parts[static_cast<size_t>(i)], maps[static_cast<size_t>(i)]); });
  }
  out.lines = 0;
  for (Part& part : parts) {
    out.repairs.join(part.repairs, out.lines);
    out.has_text.join(part.has_text, out.lines);
    out.has_x.join(part.has_x, out.lines);
    out.has_y.join(part.has_y, out.lines);
    out.smallest_feature = std::min(out.smallest_feature, part.smallest_feature);
    out.largest_feature = std::max(out.largest_feature, part.largest_feature);
    out.largest_label = std::max(out.largest_label, part.largest_label);
    out.rows += part.rows;
    out.lines += part.lines;
  }
  concatenate(parts, &Part::x, &SparseRows::counts, out.x.counts);
  concatenate(parts, &Part::x, &SparseRows::ids, out.x.ids);
  concatenate(parts, &Part::x, &SparseRows::values, out.x.values);
  concatenate(parts, &Part::y, &SparseRows::counts, out.y.counts);
  concatenate(parts, &Part::y, &SparseRows::ids, out.y.ids);
  concatenate(parts, &Part::y, &SparseRows::values, out.y.values);
  return out;
}

}  // namespace longtail
