//! What every implementation of a port must do. Each contract is a story told to fresh stores.
