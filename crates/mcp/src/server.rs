//! The house as a server, for any client of the protocol.
