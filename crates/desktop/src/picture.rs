//! From the bytes of a screen to a picture: cut, made smaller, and encoded.

use fast_image_resize::{
    PixelType, ResizeAlg, ResizeOptions, Resizer,
    images::{Image, ImageRef},
};
use kernel::desktop::{DesktopError, Format, Frame, Mapping, Rect, Shot};

/// Pixels as the display gives them: blue, green, red, and one that means nothing.
pub struct Pixels {
    pub area: Rect,
    pub bytes: Vec<u8>,
}

impl Pixels {
    /// At most as large as was asked for.
    pub fn encode(mut self, shot: &Shot) -> Result<Frame, DesktopError> {
        let mapping = Mapping::within(self.area, shot.max_edge);
        if (mapping.width, mapping.height) != (self.area.w, self.area.h) {
            self.bytes = self.scaled(mapping)?;
        }
        let rgb = colours(&self.bytes);
        let Mapping { width, height, screen } = mapping;
        let bytes = match shot.format {
            Format::Webp => webp(&rgb, width, height),
            Format::Png => png(&rgb, width, height),
            Format::Jpeg => jpeg(&rgb, width, height, shot.quality),
        };
        let bytes = bytes.map_err(|error| failed(&error))?;
        Ok(Frame { bytes, format: shot.format, width, height, screen })
    }

    fn scaled(&self, mapping: Mapping) -> Result<Vec<u8>, DesktopError> {
        let Rect { w, h, .. } = self.area;
        let from = ImageRef::new(w, h, &self.bytes, PixelType::U8x4).map_err(|e| failed(&e))?;
        let mut to = Image::new(mapping.width, mapping.height, PixelType::U8x4);
        let options = ResizeOptions::new()
            .resize_alg(ResizeAlg::Convolution(fast_image_resize::FilterType::Bilinear))
            // The fourth byte is not how much one sees through it.
            .use_alpha(false);
        Resizer::new().resize(&from, &mut to, &options).map_err(|error| failed(&error))?;
        Ok(to.into_vec())
    }
}

fn colours(bytes: &[u8]) -> Vec<u8> {
    bytes
        .as_chunks::<4>()
        .0
        .iter()
        .flat_map(|[blue, green, red, _]| [*red, *green, *blue])
        .collect()
}

type Encoded = Result<Vec<u8>, Box<dyn std::error::Error>>;

fn webp(rgb: &[u8], width: u32, height: u32) -> Encoded {
    let mut bytes = Vec::new();
    let encoder = image_webp::WebPEncoder::new(&mut bytes);
    encoder.encode(rgb, width, height, image_webp::ColorType::Rgb8)?;
    Ok(bytes)
}

fn png(rgb: &[u8], width: u32, height: u32) -> Encoded {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::Fast);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(rgb)?;
    writer.finish()?;
    Ok(bytes)
}

fn jpeg(rgb: &[u8], width: u32, height: u32, quality: u8) -> Encoded {
    let mut bytes = Vec::new();
    let (width, height) = (u16::try_from(width)?, u16::try_from(height)?);
    let encoder = jpeg_encoder::Encoder::new(&mut bytes, quality);
    encoder.encode(rgb, width, height, jpeg_encoder::ColorType::Rgb)?;
    Ok(bytes)
}

fn failed(error: &dyn std::fmt::Display) -> DesktopError {
    DesktopError::failed(format!("the picture cannot be made: {error}"))
}
