//! Commands that run for one connection, and end with it.

use serde_json::Value;

use super::{Complaint, Connection};

impl Connection {
    pub(super) fn run(&mut self, id: &str, order: Value) -> Result<(), Complaint> {
        let refused = |error: String| Complaint { id: Some(id.into()), error };
        let order = serde_json::from_value(order).map_err(|it| refused(it.to_string()))?;
        let started = self.shells.start(&self.app, id.to_owned(), order);
        started.map_err(|error| refused(error.told().2))
    }

    pub(super) fn stop(&mut self, id: String) -> Result<(), Complaint> {
        let Some(exit) = self.shells.cancel(&id) else {
            let error = format!("No command with the id {id} is running");
            return Err(Complaint { id: Some(id.into()), error });
        };
        self.out.push(exit);
        Ok(())
    }
}
