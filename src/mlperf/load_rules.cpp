// SPDX-License-Identifier: Apache-2.0
#include "mlperf/load_rules.h"

namespace assay {

std::string_view load_rules_v6_1() {
  return R"(*.*.qsl_rng_seed = 2085463073848966840
*.*.sample_index_rng_seed = 2747215439041700203
*.*.schedule_rng_seed = 16159082839903944936
*.*.min_duration = 600000
*.SingleStream.target_latency = 10
*.SingleStream.target_latency_percentile = 90
*.MultiStream.target_latency = 80
*.MultiStream.target_latency_percentile = 99
*.MultiStream.samples_per_query = 8
*.MultiStream.min_query_count = 662
*.Server.target_latency = 10
*.Server.target_latency_percentile = 99
pointpainting.SingleStream.target_latency_percentile = 99.9
retinanet.MultiStream.target_latency = 528

resnet50.Server.target_latency = 15
retinanet.Server.target_latency = 100
bert.Server.target_latency = 130
dlrm.Server.target_latency = 60
dlrm-v2.Server.target_latency = 60
dlrm-v3.Server.target_latency = 80
rnnt.Server.target_latency = 1000
stable-diffusion-xl.Server.target_latency = 20000
qwen3-vl-235b-a22b.Server.target_latency = 12000

resnet50.*.performance_sample_count_override = 1024
retinanet.*.performance_sample_count_override = 64
bert.*.performance_sample_count_override = 10833
dlrm.*.performance_sample_count_override = 204800
dlrm-v2.*.performance_sample_count_override = 204800
rnnt.*.performance_sample_count_override = 2513
stable-diffusion-xl.*.performance_sample_count_override = 5000
rgat.*.performance_sample_count_override = 788379
pointpainting.*.performance_sample_count_override = 1024
yolo.*.performance_sample_count_override = 64
wan-2.2-t2v-a14b.*.performance_sample_count_override = 248
qwen3-vl-235b-a22b.*.performance_sample_count_override = 48289

resnet50.Offline.min_query_count = 24576
retinanet.Offline.min_query_count = 24576
dlrm-v2.Offline.min_query_count = 24576
bert.Offline.min_query_count = 10833
rnnt.Offline.min_query_count = 2513
stable-diffusion-xl.Offline.min_query_count = 5000
3d-unet.Offline.min_query_count = 43
rgat.Offline.min_query_count = 788379
wan-2.2-t2v-a14b.Offline.min_query_count = 248
qwen3-vl-235b-a22b.Offline.min_query_count = 48289

3d-unet.*.sample_concatenate_permutation = 1
rgat.*.sample_concatenate_permutation = 1
qwen3-vl-235b-a22b.*.sample_concatenate_permutation = 1

gptj.*.infer_token_latencies = 1
llama2-70b.*.use_token_latencies = 1
llama2-70b-interactive.*.use_token_latencies = 1
mixtral-8x7b.*.use_token_latencies = 1
llama3_1-405b.*.use_token_latencies = 1
llama3_1-8b.*.use_token_latencies = 1
deepseek-r1.*.use_token_latencies = 1
whisper.*.use_token_latencies = 1
gpt-oss-120b.*.use_token_latencies = 1
)";
}

}  // namespace assay
