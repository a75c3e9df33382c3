//! The phone's side of the Window Protocol: what it can read and what it shows. Knows no network.

mod decode;
mod fields;
mod screen;
mod second;

pub use decode::{Event, Role, Row, Status, Step, Task, event, messages, status};
pub use fields::Fault;
pub use screen::{Bubble, Card, Screen};
pub use second::{Asked, File, News, Session, Telling, Timeline, history, telling};
