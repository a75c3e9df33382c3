//! Programs that do the same on a display, where they are installed: `make references` installs them.

use std::{
    env,
    process::{Command, Stdio},
    time::Instant,
};

use enigo::{Keyboard as _, Mouse as _};

use super::{STARTS, Stage, TEXT, middle};
use crate::table::Row;

/// The first argument of this program when it shall only take pictures, on the display of its environment.
pub const XCAP: &str = "take-pictures";

/// Programs that do the same, where they are installed.
pub fn compare(stage: &Stage, rows: &mut [Row]) {
    let xdotool = |args: &[&str]| stage.runs("xdotool", args).map(|it| it * 1e6);
    let python = |code: &str| {
        let code = format!(
            "import pyautogui,time\npyautogui.PAUSE=0\npyautogui.FAILSAFE=False\nt=time.perf_counter()\n\
             for i in range(100): {code}\nprint((time.perf_counter()-t)/100)"
        );
        let python = env::var("PYAUTOGUI").unwrap_or_else(|_| "python3".to_owned());
        stage.says(&python, &["-c", &code]).map(|it| it * 1e6)
    };
    let enigo = enigo::Enigo::new(&enigo::Settings {
        linux_delay: 0,
        x11_display: Some(stage.display.clone()),
        ..enigo::Settings::default()
    });
    let mut enigo = enigo.ok();
    let mut enigo = |rounds, work: fn(&mut enigo::Enigo, i32) -> enigo::InputResult<()>| {
        let enigo = enigo.as_mut()?;
        let mut took = Vec::new();
        for nth in 0..rounds {
            let begun = Instant::now();
            work(enigo, nth).ok()?;
            took.push(begun.elapsed());
        }
        Some(middle(&mut took) * 1e6)
    };
    let moved = enigo(500, |it, nth| it.move_mouse(300 + nth, 200 + nth, enigo::Coordinate::Abs));
    let clicked = enigo(500, |it, _| it.button(enigo::Button::Left, enigo::Direction::Click));
    let each = |text: f64| text / f64::from(u32::try_from(TEXT.len()).unwrap_or(u32::MAX));
    let typed = enigo(10, |it, _| it.text(TEXT)).map(each);
    let written = python(&format!("pyautogui.write('{TEXT}')")).map(each);
    let pictures = || {
        let own = env::current_exe().ok()?;
        stage.says(own.to_str()?, &[XCAP])
    };
    let found = [
        (0, "enigo without delays", moved),
        (2, "enigo without delays", clicked),
        (0, "xdotool, a process each", xdotool(&["mousemove", "400", "300"])),
        (0, "PyAutoGUI", python("pyautogui.moveTo(300+i,200)")),
        (2, "xdotool, a process each", xdotool(&["click", "1"])),
        (2, "PyAutoGUI", python("pyautogui.click()")),
        (3, "enigo without delays", typed),
        (3, "xdotool, a process each", xdotool(&["type", TEXT]).map(each)),
        (3, "PyAutoGUI", written),
        (4, "xcap, taken and read", pictures().map(|it| it * 1e3)),
        (6, "scrot, a process each", stage.runs("scrot", &["-o", "/dev/null"]).map(|it| it * 1e3)),
    ];
    for (row, what, value) in found {
        rows[row].beside.push((what.to_owned(), value.unwrap_or(f64::NAN)));
    }
}

/// How long it takes to have the whole screen, in seconds, the median.
#[cfg(feature = "xcap")]
pub fn xcap() -> anyhow::Result<()> {
    let monitors = xcap::Monitor::all()?;
    let [monitor] = monitors.as_slice() else { anyhow::bail!("{} screens", monitors.len()) };
    let mut took = Vec::with_capacity(super::LOOKS);
    for _ in 0..super::LOOKS {
        let begun = Instant::now();
        monitor.capture_image()?;
        took.push(begun.elapsed());
    }
    println!("{}", middle(&mut took));
    Ok(())
}

#[cfg(not(feature = "xcap"))]
pub fn xcap() -> anyhow::Result<()> {
    anyhow::bail!("built without xcap: `make references` installs what it needs")
}

impl Stage {
    fn command(&self, program: &str, args: &[&str]) -> Command {
        let mut command = Command::new(program);
        // Some want a file of keys even where none is needed.
        command.args(args).env("DISPLAY", &self.display).env("XAUTHORITY", "/dev/null");
        command.stdin(Stdio::null()).stderr(Stdio::null());
        command
    }

    /// How long it takes, in seconds, the median; none if it is not there.
    fn runs(&self, program: &str, args: &[&str]) -> Option<f64> {
        let mut took = Vec::with_capacity(STARTS);
        for _ in 0..STARTS {
            let begun = Instant::now();
            let status = self.command(program, args).stdout(Stdio::null()).status().ok()?;
            took.push(begun.elapsed());
            status.success().then_some(())?;
        }
        Some(middle(&mut took))
    }

    /// What it prints last, if that is a number.
    fn says(&self, program: &str, args: &[&str]) -> Option<f64> {
        let output = self.command(program, args).output().ok()?;
        String::from_utf8(output.stdout).ok()?.lines().last()?.trim().parse().ok()
    }
}
