//! Servers of tools that the house uses.
