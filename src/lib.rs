//! redpipe
