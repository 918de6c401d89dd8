//! Plots, as SVG.

use std::fmt::Write as _;

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 360.0;
const LEFT: f64 = 90.0;
const RIGHT: f64 = 150.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 50.0;
const COLOURS: [&str; 4] = ["#1b6ca8", "#c8553d", "#588157", "#7b5ea7"];

/// Points of one kind.
#[derive(Debug, Clone)]
pub struct Series {
    /// What they are.
    pub name: String,
    /// Each by its two numbers, both above 0.
    pub points: Vec<(f64, f64)>,
    /// The slope of a line through zero that is drawn with them.
    pub slope: Option<f64>,
}

/// Points on logarithmic axes, where lines through zero are parallel.
///
/// # Panics
/// There are no points.
pub fn points(title: &str, x: &str, y: &str, series: &[Series]) -> String {
    let all = || series.iter().flat_map(|s| s.points.iter().copied());
    let range = |of: fn((f64, f64)) -> f64| {
        let (low, high) =
            all().map(of).fold((f64::MAX, f64::MIN), |(l, h), v| (l.min(v), h.max(v)));
        assert!(low <= high && low > 0.0, "a plot needs points above 0");
        (low.log10().floor(), high.log10().ceil().max(low.log10().floor() + 1.0))
    };
    let ((x0, x1), (y0, y1)) = (range(|p| p.0), range(|p| p.1));
    let at_x = |v: f64| LEFT + (v.log10() - x0) / (x1 - x0) * (WIDTH - LEFT - RIGHT);
    let at_y = |v: f64| HEIGHT - BOTTOM - (v.log10() - y0) / (y1 - y0) * (HEIGHT - TOP - BOTTOM);

    let mut svg = begin(HEIGHT, title);
    for power in x0 as i32..=x1 as i32 {
        let at = at_x(10f64.powi(power));
        line(&mut svg, (at, TOP), (at, HEIGHT - BOTTOM), "#ddd", "");
        text(&mut svg, (at, HEIGHT - BOTTOM + 16.0), "middle", &number(power));
    }
    for power in y0 as i32..=y1 as i32 {
        let at = at_y(10f64.powi(power));
        line(&mut svg, (LEFT, at), (WIDTH - RIGHT, at), "#ddd", "");
        text(&mut svg, (LEFT - 6.0, at + 4.0), "end", &number(power));
    }
    text(&mut svg, ((LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 12.0), "middle", x);
    text(&mut svg, (LEFT, TOP - 8.0), "middle", y);
    for (i, series) in series.iter().enumerate() {
        let colour = COLOURS[i % COLOURS.len()];
        if let Some(slope) = series.slope {
            // Only where it is in the picture.
            let (low, high) = (
                10f64.powf(x0).max(10f64.powf(y0) / slope),
                10f64.powf(x1).min(10f64.powf(y1) / slope),
            );
            let end = |v: f64| (at_x(v), at_y(v * slope));
            line(&mut svg, end(low), end(high), colour, " stroke-dasharray=\"4 3\"");
        }
        for &(a, b) in &series.points {
            let _ = writeln!(
                svg,
                "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"4\" fill=\"{colour}\"/>",
                at_x(a),
                at_y(b)
            );
        }
        let at = TOP + 14.0 + 20.0 * i as f64;
        let _ = writeln!(
            svg,
            "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"4\" fill=\"{colour}\"/>",
            WIDTH - RIGHT + 14.0,
            at - 4.0
        );
        text(&mut svg, (WIDTH - RIGHT + 24.0, at), "start", &series.name);
    }
    svg + "</svg>\n"
}

/// Bars from 0 to the right, and a line at 1.
pub fn bars(title: &str, bars: &[(String, f64)]) -> String {
    const STEP: f64 = 18.0;
    const NAMES: f64 = 280.0;
    let height = TOP + STEP * bars.len() as f64 + 20.0;
    let most = bars.iter().map(|(_, v)| *v).fold(1.0, f64::max);
    let scale = (WIDTH - NAMES - 60.0) / most;
    let mut svg = begin(height, title);
    for (i, (name, value)) in bars.iter().enumerate() {
        let at = TOP + STEP * i as f64;
        let colour = if *value > 1.0 { COLOURS[1] } else { COLOURS[0] };
        text(&mut svg, (NAMES - 8.0, at + 12.0), "end", name);
        let _ = writeln!(
            svg,
            "<rect x=\"{NAMES}\" y=\"{:.1}\" width=\"{:.1}\" height=\"12\" fill=\"{colour}\"/>",
            at + 2.0,
            value * scale
        );
        text(&mut svg, (NAMES + value * scale + 4.0, at + 12.0), "start", &format!("{value:.2}"));
    }
    line(
        &mut svg,
        (NAMES + scale, TOP - 4.0),
        (NAMES + scale, height - 14.0),
        "#333",
        " stroke-dasharray=\"2 2\"",
    );
    svg + "</svg>\n"
}

fn begin(height: f64, title: &str) -> String {
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" font-family=\"sans-serif\" \
         font-size=\"11\">\n<rect width=\"{WIDTH}\" height=\"{height}\" fill=\"white\"/>\n"
    );
    let _ = writeln!(svg, "<text x=\"8\" y=\"18\" font-size=\"13\">{}</text>", escaped(title));
    svg
}

fn line(svg: &mut String, from: (f64, f64), to: (f64, f64), colour: &str, more: &str) {
    let _ = writeln!(
        svg,
        "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" stroke=\"{colour}\"{more}/>",
        from.0, from.1, to.0, to.1
    );
}

fn text(svg: &mut String, at: (f64, f64), anchor: &str, text: &str) {
    let _ = writeln!(
        svg,
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\">{}</text>",
        at.0,
        at.1,
        escaped(text)
    );
}

/// A power of ten.
fn number(power: i32) -> String {
    format!("{}", 10f64.powi(power))
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}
