//! Tools by which an agent opens an app in a window, and a file in an app.

mod app;
mod file;
#[cfg(test)]
mod tests;

pub use app::AppOpen;
pub use file::FileOpen;
