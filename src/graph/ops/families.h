// SPDX-License-Identifier: Apache-2.0
//
// The operator families, each registered by one explicit call from op_table().
#pragma once

#include "graph/operator.h"

namespace assay {

void add_convolution_ops(OpTable& table);
void add_conv_transpose_ops(OpTable& table);
void add_deform_conv_ops(OpTable& table);
void add_pooling_ops(OpTable& table);
void add_global_pool_ops(OpTable& table);
void add_region_ops(OpTable& table);
void add_normalization_ops(OpTable& table);
void add_group_norm_ops(OpTable& table);
void add_matrix_ops(OpTable& table);
void add_quantized_ops(OpTable& table);
void add_recurrent_ops(OpTable& table);
void add_recurrent_gradient_ops(OpTable& table);
void add_ctc_ops(OpTable& table);
void add_sparse_ops(OpTable& table);
void add_resize_ops(OpTable& table);
void add_grid_ops(OpTable& table);
void add_patch_ops(OpTable& table);
void add_detection_ops(OpTable& table);
void add_dropout_ops(OpTable& table);
void add_activation_ops(OpTable& table);
void add_math_ops(OpTable& table);
void add_arithmetic_ops(OpTable& table);
void add_logic_ops(OpTable& table);
void add_softmax_ops(OpTable& table);
void add_reduction_ops(OpTable& table);
void add_axis_ops(OpTable& table);
void add_reshape_ops(OpTable& table);
void add_cast_ops(OpTable& table);
void add_layout_ops(OpTable& table);
void add_slice_ops(OpTable& table);
void add_index_ops(OpTable& table);
void add_source_ops(OpTable& table);
void add_training_ops(OpTable& table);
void add_random_ops(OpTable& table);
void add_block_ops(OpTable& table);
void add_scatter_ops(OpTable& table);
void add_select_ops(OpTable& table);
void add_signal_ops(OpTable& table);
void add_window_function_ops(OpTable& table);
void add_einsum_ops(OpTable& table);
void add_determinant_ops(OpTable& table);
void add_control_ops(OpTable& table);
void add_optimizer_ops(OpTable& table);
void add_backward_ops(OpTable& table);
void add_backward_norm_ops(OpTable& table);
void add_backward_index_ops(OpTable& table);
void add_backward_pool_ops(OpTable& table);

}  // namespace assay
