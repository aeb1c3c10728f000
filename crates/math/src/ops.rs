//! Operations other than matrix products: elementwise functions and their derivatives, broadcasting, reductions, softmax, norms, attention,
//! dropout, gathers, conversions of layouts and the Adam update. Each operation works on flat slices of known shape. Only `rotary_table`
//! allocates memory.

mod adam;
mod attention;
mod dropout;
mod elementwise;
mod head;
mod indexed;
mod norm;
mod panels;
mod reduce;
mod softmax;

pub use adam::{AdamStep, adam};
pub use attention::{HEAD, attend_one, causal_attention, causal_attention_backward, rotary, rotary_table};
pub use dropout::dropout;
pub use elementwise::{
    Binary, Span, Unary, add_scaled, affine, binary, binary_in_place, unary, unary_backward, unary_backward_in_place, unary_in_place,
};
pub use head::{HeadSlopes, head_loss, head_tile};
pub use indexed::{BAG_PIECE, embedding_bag, embedding_bag_backward, take_columns, take_columns_backward, windows};
pub(crate) use norm::{column_stats, finish_four_rows, finish_pair, finish_row, row_stats, store_stats};
pub use norm::{layer_norm_panels, norm, norm_backward};
pub use panels::{panels_to_rows, rows_to_panels};
pub use reduce::{sum, sum_cols, sum_of_squares, sum_rows};
pub use softmax::{softmax, softmax_backward, softmax_panels};
