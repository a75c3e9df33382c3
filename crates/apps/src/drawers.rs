//! Every app of this house: those that came with the program, and the owner's, which win.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use futures::{FutureExt as _, future::BoxFuture};
use kernel::cabinet::{Cabinet, Card, InstallError, Parcel, RemoveError, is_id};
use tokio::sync::broadcast;

use crate::{
    CHANGES, Problem, blocking,
    drawer::Drawer,
    install::{self, Bundle},
    kept::Kept,
    manifest, shipped,
    watch::{Hearer, Known, Watch},
};

pub struct Drawers {
    own: Arc<Drawer>,
    watch: Mutex<Watch>,
    changes: broadcast::Sender<String>,
    kept: Kept<Card>,
    /// Held while an app is put in or taken out.
    changing: Arc<Mutex<()>>,
}

impl Drawers {
    /// `root` is the owner's folder, made if need be. Needs a runtime, in which changes are heard of.
    pub fn open(root: PathBuf) -> Arc<Self> {
        if let Err(error) = std::fs::create_dir_all(&root) {
            tracing::warn!(folder = %root.display(), %error, "there is no room for apps");
        }
        let drawers = Arc::new_cyclic(|this| Self {
            own: Arc::new(Drawer::new(root)),
            watch: Mutex::new(Watch::begin(this.clone(), is_id)),
            changes: broadcast::Sender::new(CHANGES),
            kept: Kept::default(),
            changing: Arc::default(),
        });
        drawers.is_watched();
        drawers
    }

    /// What is wrong in this folder, for a person.
    pub fn problems(root: &Path) -> Vec<Problem> {
        let (cards, problems) = Drawer::new(root.to_owned()).list();
        let problems = problems.into_iter().map(|(folder, what)| Problem { folder, what });
        let within = cards.into_iter().flat_map(|card| {
            let folder = root.join(&card.id);
            card.problems.into_iter().map(move |problem| Problem {
                folder: folder.clone(),
                what: manifest::told(&problem),
            })
        });
        problems.chain(within).collect()
    }

    /// Every app, without a server that would watch them.
    pub fn look(root: &Path) -> Vec<Card> {
        gather(&Drawer::new(root.to_owned()))
    }

    /// Takes one of the owner's apps out of this folder.
    pub fn take_out(root: &Path, id: &str) -> Result<(), RemoveError> {
        if !is_id(id) {
            return Err(RemoveError::Unknown(id.to_owned()));
        }
        match install::remove(root, id) {
            Ok(true) => Ok(()),
            Ok(false) if shipped::card(id).is_some() => Err(RemoveError::Bundled(id.to_owned())),
            Ok(false) => Err(RemoveError::Unknown(id.to_owned())),
            Err(error) => Err(RemoveError::Disk(error.to_string())),
        }
    }

    /// Whether changes of the folder will be heard of.
    fn is_watched(&self) -> bool {
        let known = {
            let mut watch = self.watch.lock().unwrap_or_else(PoisonError::into_inner);
            watch.look(self.own.root())
        };
        if known == Known::Anew {
            self.kept.forget();
        }
        known != Known::Not
    }

    /// Does something with the owner's folder that nobody else does at the same time.
    async fn change<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Path) -> T + Send + 'static,
    ) -> Option<T> {
        let (own, changing) = (self.own.clone(), self.changing.clone());
        let done = blocking(move || {
            let _changing = changing.lock().unwrap_or_else(PoisonError::into_inner);
            work(own.root())
        });
        let done = done.await;
        // Where changes are not heard of, this one is known all the same.
        self.kept.forget();
        done
    }
}

fn gather(own: &Drawer) -> Vec<Card> {
    let (mut cards, _) = own.list();
    let bundled = shipped::list().into_iter();
    let others: Vec<Card> =
        bundled.filter(|card| cards.iter().all(|own| own.id != card.id)).collect();
    cards.extend(others);
    cards.sort_by(|a, b| (&a.name, &a.id).cmp(&(&b.name, &b.id)));
    cards
}

fn broke_down() -> InstallError {
    InstallError::Disk("reading it broke down".into())
}

impl Hearer for Drawers {
    fn stale(&self) {
        self.kept.forget();
    }

    fn settled(&self, names: Vec<String>) {
        self.kept.forget();
        for id in names {
            // An error only means that nobody is listening now.
            self.changes.send(id).ok();
        }
    }
}

impl Cabinet for Drawers {
    fn list(&self) -> BoxFuture<'_, Arc<Vec<Card>>> {
        async {
            // Before the folder is read, or a change in between would be missed.
            let watched = self.is_watched();
            let edition = match self.kept.get() {
                Ok(list) if watched => return list,
                Ok(_) => None,
                Err(edition) => Some(edition),
            };
            let own = self.own.clone();
            let list = Arc::new(blocking(move || gather(&own)).await.unwrap_or_default());
            if let Some(edition) = edition.filter(|_| watched) {
                self.kept.keep(edition, &list);
            }
            list
        }
        .boxed()
    }

    fn file<'a>(&'a self, id: &'a str, path: &'a str) -> BoxFuture<'a, Option<Vec<u8>>> {
        let (own, id, path) = (self.own.clone(), id.to_owned(), path.to_owned());
        let find = move || {
            if !is_id(&id) {
                return None;
            }
            // An app is the owner's or ours as a whole.
            if own.has(&id) { own.file(&id, &path) } else { shipped::file(&id, &path) }
        };
        async { blocking(find).await.flatten() }.boxed()
    }

    fn icon<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Option<(&'static str, Vec<u8>)>> {
        let (own, id) = (self.own.clone(), id.to_owned());
        let find = move || {
            if !is_id(&id) {
                return None;
            }
            if own.has(&id) { own.icon(&id) } else { shipped::icon(&id) }
        };
        async { blocking(find).await.flatten() }.boxed()
    }

    fn inspect(
        &self,
        Parcel { bytes, id, name }: Parcel,
    ) -> BoxFuture<'_, Result<Card, InstallError>> {
        let look = move || {
            let bundle = Bundle::unpack(&bytes, id.as_deref(), name.as_deref())?;
            Ok(bundle.card().clone())
        };
        async { blocking(look).await.unwrap_or_else(|| Err(broke_down())) }.boxed()
    }

    fn install(
        &self,
        Parcel { bytes, id, name }: Parcel,
    ) -> BoxFuture<'_, Result<Card, InstallError>> {
        let put = move |root: &Path| {
            Bundle::unpack(&bytes, id.as_deref(), name.as_deref())?.install(root)
        };
        async { self.change(put).await.unwrap_or_else(|| Err(broke_down())) }.boxed()
    }

    fn remove<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<(), RemoveError>> {
        let id = id.to_owned();
        let broken = || Err(RemoveError::Disk("it broke down".into()));
        async move {
            let removed = self.change(move |root| Self::take_out(root, &id)).await;
            removed.unwrap_or_else(broken)
        }
        .boxed()
    }

    fn changes(&self) -> broadcast::Receiver<String> {
        self.changes.subscribe()
    }
}
