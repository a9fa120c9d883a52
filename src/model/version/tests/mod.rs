//! Claims about versions that vendors' machines have shown.

mod claim;
mod decoration;
mod property;
mod vector_board;
mod vector_plain;
mod vector_vendor;
