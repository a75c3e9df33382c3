//! Agents with minds of their own that answer in our sessions, over the Agent Client Protocol; the only room that names it.
