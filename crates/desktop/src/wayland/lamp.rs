//! A frame around every output while somebody may drive it: in front of all, and never in the way.

use std::{fs::File, io::Write as _, os::fd::AsFd as _, sync::mpsc::Receiver, time::Duration};

use kernel::desktop::DesktopError;
use rustix::fs::{MemfdFlags, memfd_create};
use wayland_client::{
    Connection, Dispatch, QueueHandle,
    protocol::{
        wl_compositor::WlCompositor,
        wl_output::WlOutput,
        wl_region::WlRegion,
        wl_shm::{Format, WlShm},
        wl_surface::WlSurface,
    },
};
use wayland_protocols_wlr::layer_shell::v1::client::{
    zwlr_layer_shell_v1::{Layer, ZwlrLayerShellV1},
    zwlr_layer_surface_v1::{self, Anchor, ZwlrLayerSurfaceV1},
};

use super::link::{self, Link, World, lost, silent};
use crate::{lamp::is_out, rig::lacking};

/// How thick the frame is.
const LINE: u32 = 3;
/// Blue, green, red, and opaque.
const ORANGE: [u8; 4] = [0x06, 0x77, 0xd9, 0xff];
/// How often one looks whether there are other outputs.
const GLANCE: Duration = Duration::from_millis(500);
/// One side of a frame.
pub struct Edge {
    surface: WlSurface,
    layer: ZwlrLayerSurfaceV1,
    /// How large it shall be, once that was said and until it is.
    wanted: Option<(u32, u32)>,
}

/// Until the other end is gone, or the display.
pub fn shine(display: Option<&str>, put_out: &Receiver<()>) -> Result<(), DesktopError> {
    let mut link = Link::open(&link::socket(display)?)?;
    let lacks = || lacking("this Wayland compositor offers no zwlr_layer_shell_v1");
    let shell: ZwlrLayerShellV1 = link.bind(1).ok_or_else(lacks)?;
    let compositor: WlCompositor = link.require(4)?;
    let shm: WlShm = link.require(1)?;
    let mut framed: Vec<u32> = Vec::new();
    loop {
        link.sync()?;
        let outputs = link.world.outputs.iter().filter(|it| it.is_shown());
        let outputs: Vec<(u32, WlOutput)> = outputs.map(|it| (it.name, it.proxy.clone())).collect();
        for (_, output) in outputs.iter().filter(|(name, _)| !framed.contains(name)) {
            surround(&mut link, &compositor, &shell, output);
        }
        framed = outputs.into_iter().map(|(name, _)| name).collect();
        link.sync()?;
        draw(&mut link, &shm)?;
        if is_out(put_out, GLANCE) {
            return Ok(());
        }
    }
}

fn surround(
    link: &mut Link,
    compositor: &WlCompositor,
    shell: &ZwlrLayerShellV1,
    output: &WlOutput,
) {
    let queue = link.handle();
    let nothing = compositor.create_region(&queue, ());
    for side in [Anchor::Top, Anchor::Bottom, Anchor::Left, Anchor::Right] {
        let surface = compositor.create_surface(&queue, ());
        // Clicks go through it.
        surface.set_input_region(Some(&nothing));
        let name = "megaron".to_owned();
        let layer =
            shell.get_layer_surface(&surface, Some(output), Layer::Overlay, name, &queue, ());
        let across = side == Anchor::Top || side == Anchor::Bottom;
        let ends = if across { Anchor::Left | Anchor::Right } else { Anchor::Top | Anchor::Bottom };
        layer.set_anchor(side | ends);
        layer.set_size(if across { 0 } else { LINE }, if across { LINE } else { 0 });
        // Whatever else stands at that side.
        layer.set_exclusive_zone(-1);
        surface.commit();
        link.world.edges.push(Edge { surface, layer, wanted: None });
    }
    nothing.destroy();
}

fn draw(link: &mut Link, shm: &WlShm) -> Result<(), DesktopError> {
    let queue = link.handle();
    for edge in &mut link.world.edges {
        let Some((width, height)) = edge.wanted.take() else { continue };
        let count = usize::try_from(u64::from(width) * u64::from(height)).map_err(lost)?;
        let file = memfd_create("megaron-frame", MemfdFlags::CLOEXEC).map_err(lost)?;
        let mut file = File::from(file);
        file.write_all(&ORANGE.repeat(count)).map_err(lost)?;
        let signed = |number: u32| i32::try_from(number).map_err(lost);
        let (width, height) = (signed(width)?, signed(height)?);
        let size = width.checked_mul(height).and_then(|it| it.checked_mul(4));
        let size = size.ok_or_else(|| lost("the output is too large"))?;
        let pool = shm.create_pool(file.as_fd(), size, &queue, ());
        let buffer = pool.create_buffer(0, width, height, width * 4, Format::Argb8888, &queue, ());
        edge.surface.attach(Some(&buffer), 0, 0);
        edge.surface.damage_buffer(0, 0, width, height);
        edge.surface.commit();
        pool.destroy();
    }
    link.sync()
}

impl Dispatch<ZwlrLayerSurfaceV1, ()> for World {
    fn event(
        world: &mut Self,
        layer: &ZwlrLayerSurfaceV1,
        event: zwlr_layer_surface_v1::Event,
        (): &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        use zwlr_layer_surface_v1::Event;
        let Some(at) = world.edges.iter().position(|edge| edge.layer == *layer) else { return };
        match event {
            Event::Configure { serial, width, height } => {
                layer.ack_configure(serial);
                world.edges[at].wanted = Some((width, height));
            }
            // Its output has gone.
            Event::Closed => {
                let edge = world.edges.remove(at);
                edge.layer.destroy();
                edge.surface.destroy();
            }
            _ => (),
        }
    }
}

silent!(WlCompositor, WlRegion, WlSurface, ZwlrLayerShellV1);
