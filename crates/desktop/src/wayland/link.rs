//! A connection to a compositor, what it offers, and everything it has told us on it.

use std::{
    env, fmt,
    os::unix::net::UnixStream,
    path::{Path, PathBuf},
};

use kernel::desktop::{Code, DesktopError};
use wayland_client::{
    Connection, Dispatch, EventQueue, Proxy, QueueHandle,
    protocol::{wl_registry::WlRegistry, wl_seat::WlSeat, wl_shm::WlShm, wl_shm_pool::WlShmPool},
};
use wayland_protocols::xdg::xdg_output::zv1::client::zxdg_output_manager_v1::ZxdgOutputManagerV1;

use super::{clipboard::Board, frame::Capture, lamp::Edge, outputs::Output, windows::Toplevel};

/// Used by one thread at a time.
pub struct Link {
    connection: Connection,
    queue: EventQueue<World>,
    pub world: World,
    registry: WlRegistry,
    pub socket: PathBuf,
}

/// What we were told on one connection.
#[derive(Default)]
pub struct World {
    offered: Vec<Offered>,
    xdg: Option<ZxdgOutputManagerV1>,
    /// Whether everything of the beginning was heard.
    ready: bool,
    pub outputs: Vec<Output>,
    pub toplevels: Vec<Toplevel>,
    pub capture: Capture,
    pub board: Board,
    pub edges: Vec<Edge>,
}

/// Something that a compositor can do.
struct Offered {
    name: u32,
    interface: String,
    version: u32,
}

/// Where the compositor listens that is named, or that of the environment.
pub fn socket(display: Option<&str>) -> Result<PathBuf, DesktopError> {
    let set = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let none = |text: &str| DesktopError::new(Code::NoDisplay, text);
    let name = display.map(PathBuf::from).or_else(|| set("WAYLAND_DISPLAY"));
    let name = name.ok_or_else(|| none("no display (WAYLAND_DISPLAY is not set)"))?;
    if name.is_absolute() {
        return Ok(name);
    }
    let folder = set("XDG_RUNTIME_DIR")
        .ok_or_else(|| none("no display (WAYLAND_DISPLAY is set, XDG_RUNTIME_DIR is not)"))?;
    Ok(folder.join(name))
}

impl Link {
    pub fn open(socket: &Path) -> Result<Self, DesktopError> {
        let unreachable = |error: &dyn fmt::Display| {
            let text = format!("cannot reach the compositor at {}: {error}", socket.display());
            DesktopError::new(Code::NoDisplay, text)
        };
        let stream = UnixStream::connect(socket).map_err(|error| unreachable(&error))?;
        let connection = Connection::from_socket(stream).map_err(|error| unreachable(&error))?;
        let queue = connection.new_event_queue();
        let registry = connection.display().get_registry(&queue.handle(), ());
        let world = World::default();
        let mut link = Self { connection, queue, world, registry, socket: socket.to_owned() };
        link.sync().map_err(|error| unreachable(&error))?;
        link.world.xdg = link.bind(3);
        link.world.ready = true;
        let (world, handle) = (&mut link.world, link.queue.handle());
        let outputs = world.offered.iter().filter(|it| it.interface == "wl_output");
        let outputs: Vec<(u32, u32)> = outputs.map(|it| (it.name, it.version)).collect();
        for (name, version) in outputs {
            world.see(&link.registry, name, version, &handle);
        }
        link.sync()?;
        Ok(link)
    }

    /// Returns when the compositor has done all that was sent, and we have heard all it said.
    pub fn sync(&mut self) -> Result<(), DesktopError> {
        self.queue.roundtrip(&mut self.world).map(drop).map_err(lost)
    }

    /// Until there is something to hear.
    pub fn listen(&mut self) -> Result<(), DesktopError> {
        self.queue.blocking_dispatch(&mut self.world).map(drop).map_err(lost)
    }

    pub fn flush(&self) -> Result<(), DesktopError> {
        self.connection.flush().map_err(lost)
    }

    pub fn is_alive(&mut self) -> bool {
        self.sync().is_ok()
    }

    pub fn handle(&self) -> QueueHandle<World> {
        self.queue.handle()
    }

    /// None if it is not offered.
    pub fn bind<I>(&self, newest: u32) -> Option<I>
    where
        I: Proxy + 'static,
        World: Dispatch<I, ()>,
    {
        let name = I::interface().name;
        let offered = self.world.offered.iter().find(|it| it.interface == name)?;
        let version = offered.version.min(newest);
        Some(self.registry.bind(offered.name, version, &self.queue.handle(), ()))
    }

    pub fn require<I>(&self, newest: u32) -> Result<I, DesktopError>
    where
        I: Proxy + 'static,
        World: Dispatch<I, ()>,
    {
        self.bind(newest).ok_or_else(|| {
            let name = I::interface().name;
            let text = format!(
                "this Wayland compositor offers no {name}, as those of GNOME and KDE do not; \
                 use one made of wlroots, such as sway, or log in to an X session"
            );
            DesktopError::new(Code::Unsupported, text)
        })
    }
}

impl World {
    /// An output that has come.
    fn see(&mut self, registry: &WlRegistry, name: u32, version: u32, queue: &QueueHandle<Self>) {
        let output = registry.bind(name, version.min(4), queue, name);
        let xdg = self.xdg.as_ref().map(|xdg| xdg.get_xdg_output(&output, queue, name));
        self.outputs.push(Output::new(name, output, xdg));
    }
}

impl Dispatch<WlRegistry, ()> for World {
    fn event(
        world: &mut Self,
        registry: &WlRegistry,
        event: <WlRegistry as Proxy>::Event,
        (): &(),
        _: &Connection,
        queue: &QueueHandle<Self>,
    ) {
        use wayland_client::protocol::wl_registry::Event;
        match event {
            Event::Global { name, interface, version } => {
                // Those of the beginning wait until their positions can be asked for.
                if interface == "wl_output" && world.ready {
                    world.see(registry, name, version, queue);
                }
                world.offered.push(Offered { name, interface, version });
            }
            Event::GlobalRemove { name } => {
                world.offered.retain(|it| it.name != name);
                world.outputs.retain(|it| it.name != name);
            }
            _ => (),
        }
    }
}

/// Those from which nothing is heard that matters.
macro_rules! silent {
    ($($interface:ty),* $(,)?) => { $(
        impl wayland_client::Dispatch<$interface, ()> for World {
            fn event(
                _: &mut Self,
                _: &$interface,
                _: <$interface as wayland_client::Proxy>::Event,
                (): &(),
                _: &wayland_client::Connection,
                _: &wayland_client::QueueHandle<Self>,
            ) {
            }
        }
    )* };
}
pub(super) use silent;

silent!(WlSeat, WlShm, WlShmPool, ZxdgOutputManagerV1);

/// What the compositor or the line to it got wrong.
pub fn lost(error: impl fmt::Display) -> DesktopError {
    DesktopError::failed(format!("OS Failure: {error}"))
}
