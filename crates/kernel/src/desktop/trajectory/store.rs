//! The trajectories there are: kept, listed, given other names, and taken away.

use std::sync::Arc;

use uuid::Uuid;

use super::Trajectory;
use crate::ports::{Catalog, Clock, Shelf, StoreError};

const LONGEST_NAME: usize = 80;

pub struct Trajectories {
    catalog: Arc<dyn Catalog>,
    clock: Arc<dyn Clock>,
    /// Held while one is changed.
    changing: tokio::sync::Mutex<()>,
}

#[derive(Debug, thiserror::Error)]
pub enum TrajectoryError {
    #[error("a name has 1 to {LONGEST_NAME} characters")]
    Name,
    #[error("another trajectory is named `{0}`")]
    Taken(String),
    #[error("nothing was done that could be done again")]
    Empty,
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Trajectories {
    pub fn new(catalog: Arc<dyn Catalog>, clock: Arc<dyn Clock>) -> Self {
        Self { catalog, clock, changing: tokio::sync::Mutex::default() }
    }

    /// By name.
    pub async fn list(&self) -> Result<Vec<Trajectory>, StoreError> {
        let kept = self.catalog.list(Shelf::Trajectories, "").await?;
        // One that cannot be read cannot be done again.
        let read = |(_, text): (String, String)| serde_json::from_str::<Trajectory>(&text).ok();
        let mut all: Vec<Trajectory> = kept.into_iter().filter_map(read).collect();
        all.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(all)
    }

    pub async fn get(&self, id: Uuid) -> Result<Option<Trajectory>, StoreError> {
        self.catalog.load(Shelf::Trajectories, &id.to_string()).await
    }

    /// By its name, or by its id.
    pub async fn find(&self, name: &str) -> Result<Option<Trajectory>, StoreError> {
        let all = self.list().await?;
        let is_meant = |it: &Trajectory| it.name == name || it.id.to_string() == name;
        Ok(all.into_iter().find(is_meant))
    }

    /// Keeps what was recorded.
    pub async fn keep(
        &self,
        name: &str,
        device: &str,
        steps: Vec<super::Step>,
    ) -> Result<Trajectory, TrajectoryError> {
        if steps.is_empty() {
            return Err(TrajectoryError::Empty);
        }
        let _changing = self.changing.lock().await;
        let name = self.free(name, None).await?;
        let (id, made) = (self.clock.id(), self.clock.now());
        let trajectory = Trajectory { id, name, device: device.to_owned(), made, steps };
        self.save(&trajectory).await?;
        Ok(trajectory)
    }

    pub async fn rename(
        &self,
        id: Uuid,
        name: &str,
    ) -> Result<Option<Trajectory>, TrajectoryError> {
        let _changing = self.changing.lock().await;
        let Some(mut trajectory) = self.get(id).await? else { return Ok(None) };
        trajectory.name = self.free(name, Some(id)).await?;
        self.save(&trajectory).await?;
        Ok(Some(trajectory))
    }

    /// Says whether there was one.
    pub async fn remove(&self, id: Uuid) -> Result<bool, StoreError> {
        let _changing = self.changing.lock().await;
        let was = self.get(id).await?.is_some();
        self.catalog.discard(Shelf::Trajectories, &id.to_string()).await?;
        Ok(was)
    }

    async fn save(&self, trajectory: &Trajectory) -> Result<(), StoreError> {
        self.catalog.save(Shelf::Trajectories, &trajectory.id.to_string(), trajectory).await
    }

    /// A name that no other has.
    async fn free(&self, name: &str, except: Option<Uuid>) -> Result<String, TrajectoryError> {
        let name = name.trim();
        if name.is_empty() || name.chars().count() > LONGEST_NAME || name.contains(char::is_control)
        {
            return Err(TrajectoryError::Name);
        }
        let taken = self.find(name).await?.is_some_and(|other| Some(other.id) != except);
        if taken {
            return Err(TrajectoryError::Taken(name.to_owned()));
        }
        Ok(name.to_owned())
    }
}
