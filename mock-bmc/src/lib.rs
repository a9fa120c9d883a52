//! A stateful fake BMC.
