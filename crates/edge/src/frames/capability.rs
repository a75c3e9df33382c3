//! Who asks for something under a ticket.

use std::sync::Arc;

use crate::{applet, cabinet::lease::Lease};

#[derive(Clone)]
pub enum Capability {
    Applet(Arc<applet::capability::Capability>),
    App(Arc<Lease>),
}
