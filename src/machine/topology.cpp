// SPDX-License-Identifier: Apache-2.0
#include "machine/topology.h"

#include <hwloc.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <type_traits>

#include <fmt/format.h>

namespace assay {
namespace {

struct DestroyTopology {
  void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
};
using TopologyHandle = std::unique_ptr<std::remove_pointer_t<hwloc_topology_t>, DestroyTopology>;

struct FreeBitmap {
  void operator()(hwloc_bitmap_t bitmap) const { hwloc_bitmap_free(bitmap); }
};
using Bitmap = std::unique_ptr<std::remove_pointer_t<hwloc_bitmap_t>, FreeBitmap>;

std::string cpu_list(hwloc_const_bitmap_t set) {
  char* text = nullptr;
  if (hwloc_bitmap_list_asprintf(&text, set) < 0) return "";
  std::string result(text);
  std::free(text);
  return result;
}

const char* cache_type(hwloc_obj_cache_type_t type) {
  switch (type) {
    case HWLOC_OBJ_CACHE_DATA:
      return "data";
    case HWLOC_OBJ_CACHE_INSTRUCTION:
      return "instruction";
    case HWLOC_OBJ_CACHE_UNIFIED:
      break;
  }
  return "unified";
}

bool alike(const CacheLevel& a, const CacheLevel& b) {
  return a.level == b.level && a.type == b.type && a.size == b.size && a.shared_by == b.shared_by &&
         a.ways == b.ways && a.line_bytes == b.line_bytes;
}

std::vector<CacheLevel> read_caches(hwloc_topology_t topology) {
  std::vector<CacheLevel> caches;
  for (int type = HWLOC_OBJ_L1CACHE; type <= HWLOC_OBJ_L3ICACHE; ++type) {
    hwloc_obj_t object = nullptr;
    while ((object = hwloc_get_next_obj_by_type(topology, static_cast<hwloc_obj_type_t>(type),
                                                object)) != nullptr) {
      const auto& cache = object->attr->cache;
      CacheLevel found{static_cast<int>(cache.depth),
                       cache_type(cache.type),
                       Bytes{static_cast<int64_t>(cache.size)},
                       static_cast<int>(cache.linesize),
                       cache.associativity,
                       hwloc_bitmap_weight(object->cpuset),
                       1};
      const auto same = std::find_if(caches.begin(), caches.end(),
                                     [&](const CacheLevel& known) { return alike(known, found); });
      if (same == caches.end()) {
        caches.push_back(found);
      } else {
        ++same->instances;
      }
    }
  }
  std::stable_sort(caches.begin(), caches.end(),
                   [](const CacheLevel& a, const CacheLevel& b) { return a.level < b.level; });
  return caches;
}

std::vector<MemoryNode> read_nodes(hwloc_topology_t topology) {
  std::vector<MemoryNode> nodes;
  hwloc_obj_t object = nullptr;
  while ((object = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, object)) != nullptr) {
    nodes.push_back({static_cast<int>(object->os_index), cpu_list(object->cpuset),
                     Bytes{static_cast<int64_t>(object->attr->numanode.local_memory)}});
  }
  return nodes;
}

std::vector<CoreKind> read_kinds(hwloc_topology_t topology) {
  std::vector<CoreKind> kinds;
  const int count = hwloc_cpukinds_get_nr(topology, 0);
  if (count < 2) return kinds;
  for (int i = 0; i < count; ++i) {
    const Bitmap set(hwloc_bitmap_alloc());
    int efficiency = -1;
    if (hwloc_cpukinds_get_info(topology, static_cast<unsigned>(i), set.get(), &efficiency, nullptr,
                                nullptr, 0) != 0) {
      continue;
    }
    kinds.push_back({efficiency, cpu_list(set.get())});
  }
  return kinds;
}

Error failed(const char* doing) {
  return Error{ErrorCode::kIo, fmt::format("hwloc cannot {}: {}", doing, std::strerror(errno))};
}

}  // namespace

Result<Topology> read_topology(const std::string& synthetic) {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) return failed("start");
  const TopologyHandle handle(raw);
  if (!synthetic.empty() && hwloc_topology_set_synthetic(raw, synthetic.c_str()) != 0) {
    return failed("read the synthetic description");
  }
  // Caches of every kind; PCI and other devices would cost time and are not used.
  hwloc_topology_set_icache_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_ALL);
  hwloc_topology_set_io_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_NONE);
  if (hwloc_topology_load(raw) != 0) return failed("read the topology");

  const auto count = [&](hwloc_obj_type_t type) {
    return std::max(0, hwloc_get_nbobjs_by_type(raw, type));
  };
  Topology topology;
  topology.sockets = count(HWLOC_OBJ_PACKAGE);
  topology.cores = count(HWLOC_OBJ_CORE);
  topology.threads = count(HWLOC_OBJ_PU);
  topology.caches = read_caches(raw);
  topology.nodes = read_nodes(raw);
  topology.kinds = read_kinds(raw);
  return topology;
}

}  // namespace assay
