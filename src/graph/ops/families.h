// SPDX-License-Identifier: Apache-2.0
//
// The operator families, each registered by one explicit call from op_table().
#pragma once

#include "graph/operator.h"

namespace assay {

void add_convolution_ops(OpTable& table);
void add_pooling_ops(OpTable& table);
void add_normalization_ops(OpTable& table);
void add_matrix_ops(OpTable& table);
void add_activation_ops(OpTable& table);
void add_elementwise_ops(OpTable& table);
void add_softmax_ops(OpTable& table);
void add_reduction_ops(OpTable& table);
void add_reshape_ops(OpTable& table);
void add_cast_ops(OpTable& table);
void add_layout_ops(OpTable& table);
void add_slice_ops(OpTable& table);
void add_index_ops(OpTable& table);
void add_source_ops(OpTable& table);
void add_training_ops(OpTable& table);

}  // namespace assay
