//! Pictures that a connected device sends, as pixels that can be compared.

use std::io::Cursor;

use kernel::desktop::{DEPTH, DesktopError, Frame, Pixels};
use png::{ColorType, Decoder, Limits, Transformations};

/// How much memory a picture may take up, whatever it says of itself.
const MOST: usize = 128 << 20;

pub fn read(frame: &Frame) -> Result<Pixels, DesktopError> {
    let failed = |text: String| DesktopError::failed(format!("its picture cannot be read: {text}"));
    let (width, height, bytes) = decode(&frame.bytes).map_err(|error| failed(error.to_string()))?;
    let mut mapping = frame.mapping();
    (mapping.width, mapping.height) = (width, height);
    // A device of the original says nothing of what its picture shows: all of the screen, pixel by pixel.
    if mapping.screen.w == 0 || mapping.screen.h == 0 {
        (mapping.screen.w, mapping.screen.h) = (width, height);
    }
    Pixels::new(mapping, bytes).ok_or_else(|| failed("it is not whole".to_owned()))
}

fn decode(bytes: &[u8]) -> Result<(u32, u32, Vec<u8>), png::DecodingError> {
    let mut decoder = Decoder::new_with_limits(Cursor::new(bytes), Limits { bytes: MOST });
    decoder.set_transformations(Transformations::EXPAND | Transformations::STRIP_16);
    let mut reader = decoder.read_info()?;
    let size = reader.output_buffer_size().filter(|size| *size <= MOST);
    let mut read = vec![0; size.ok_or(png::DecodingError::LimitsExceeded)?];
    let info = reader.next_frame(&mut read)?;
    let samples = info.color_type.samples();
    let grey = matches!(info.color_type, ColorType::Grayscale | ColorType::GrayscaleAlpha);
    let pixels = read[..info.buffer_size()].chunks_exact(samples);
    let mut bytes = Vec::with_capacity(pixels.len() * DEPTH);
    for pixel in pixels {
        bytes.extend(if grey {
            [pixel[0], pixel[0], pixel[0], 0]
        } else {
            [pixel[2], pixel[1], pixel[0], 0]
        });
    }
    Ok((info.width, info.height, bytes))
}
