//! The outputs of a compositor, and how its layout becomes one screen of pixels.

use kernel::desktop::DesktopError;
use wayland_client::{
    Connection, Dispatch, Proxy, QueueHandle, WEnum,
    protocol::wl_output::{self, Transform, WlOutput},
};
use wayland_protocols::xdg::xdg_output::zv1::client::zxdg_output_v1::{self, ZxdgOutputV1};

use super::link::World;
use crate::rig::{Layout, Place, lacking};

pub struct Output {
    pub name: u32,
    pub proxy: WlOutput,
    xdg: Option<ZxdgOutputV1>,
    title: String,
    /// In pixels, before it is turned.
    mode: (i32, i32),
    scale: i32,
    pub transform: Transform,
    /// Where it lies in the layout, and how large it is there.
    at: (i32, i32),
    size: Option<(i32, i32)>,
}

impl Output {
    pub fn new(name: u32, proxy: WlOutput, xdg: Option<ZxdgOutputV1>) -> Self {
        let transform = Transform::Normal;
        let title = format!("output {name}");
        Self { name, proxy, xdg, title, mode: (0, 0), scale: 1, transform, at: (0, 0), size: None }
    }

    /// Whether anything is on it.
    pub fn is_shown(&self) -> bool {
        self.mode.0 > 0 && self.mode.1 > 0
    }

    /// In pixels, as a person sees it.
    fn turned(&self) -> (i32, i32) {
        let (w, h) = self.mode;
        if is_sideways(self.transform) { (h, w) } else { (w, h) }
    }

    fn place(&self) -> Place {
        let pixels = self.turned();
        let scaled = |length: i32| length / self.scale.max(1);
        let size = self.size.unwrap_or((scaled(pixels.0), scaled(pixels.1)));
        Place { title: self.title.clone(), at: self.at, size, pixels, primary: false }
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        if let Some(xdg) = &self.xdg {
            xdg.destroy();
        }
        if self.proxy.version() >= 3 {
            self.proxy.release();
        }
    }
}

pub fn is_sideways(transform: Transform) -> bool {
    matches!(
        transform,
        Transform::_90 | Transform::_270 | Transform::Flipped90 | Transform::Flipped270
    )
}

/// All of them as one screen.
pub fn layout(outputs: &[Output]) -> Result<Layout, DesktopError> {
    let shown = outputs.iter().filter(|it| it.is_shown());
    let mut places: Vec<Place> = shown.map(Output::place).collect();
    let Some(first) = places.first_mut() else {
        return Err(lacking("the compositor shows nothing: it has no output"));
    };
    // Wayland knows of none.
    first.primary = true;
    Ok(Layout::new(&places))
}

impl Dispatch<WlOutput, u32> for World {
    fn event(
        world: &mut Self,
        _: &WlOutput,
        event: wl_output::Event,
        name: &u32,
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        let Some(output) = world.outputs.iter_mut().find(|it| it.name == *name) else { return };
        match event {
            wl_output::Event::Geometry { x, y, transform: WEnum::Value(transform), .. } => {
                output.transform = transform;
                if output.size.is_none() {
                    output.at = (x, y);
                }
            }
            wl_output::Event::Mode { flags: WEnum::Value(flags), width, height, .. }
                if flags.contains(wl_output::Mode::Current) =>
            {
                output.mode = (width, height);
            }
            wl_output::Event::Scale { factor } => output.scale = factor,
            wl_output::Event::Name { name } => output.title = name,
            _ => (),
        }
    }
}

impl Dispatch<ZxdgOutputV1, u32> for World {
    fn event(
        world: &mut Self,
        _: &ZxdgOutputV1,
        event: zxdg_output_v1::Event,
        name: &u32,
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        let Some(output) = world.outputs.iter_mut().find(|it| it.name == *name) else { return };
        match event {
            zxdg_output_v1::Event::LogicalPosition { x, y } => output.at = (x, y),
            zxdg_output_v1::Event::LogicalSize { width, height } => {
                output.size = Some((width, height));
            }
            _ => (),
        }
    }
}
