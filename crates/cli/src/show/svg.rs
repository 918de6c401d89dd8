//! The diagram as SVG.

use std::fmt::Write;

use mlx5_prm::LayoutDesc;

use super::diagram::rows;

const BIT: usize = 24;
const HEIGHT: usize = 28;
const LEFT: usize = 64;
const TOP: usize = 56;

/// A picture of the layout's bits.
pub(super) fn text(layout: &LayoutDesc) -> String {
    let rows = rows(layout);
    let (width, height) = (LEFT + 32 * BIT + 56, TOP + rows.len() * HEIGHT + 16);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"monospace\" font-size=\"12\">\n\
         <title>{0}</title>\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
         <text x=\"{LEFT}\" y=\"20\" font-size=\"15\">{0}, {1} bytes</text>\n",
        layout.name, layout.size
    );
    for bit in [31, 24, 23, 16, 15, 8, 7, 0] {
        let x = LEFT + (31 - bit) * BIT + BIT / 2;
        let _ =
            writeln!(out, "<text x=\"{x}\" y=\"{}\" text-anchor=\"middle\">{bit}</text>", TOP - 8);
    }
    for (i, row) in rows.iter().enumerate() {
        let y = TOP + i * HEIGHT;
        let text = y + HEIGHT / 2 + 4;
        let _ = writeln!(
            out,
            "<text x=\"{}\" y=\"{text}\" text-anchor=\"end\">{:#05x}</text>",
            LEFT - 8,
            row.at
        );
        let mut x = LEFT;
        for cell in &row.cells {
            let wide = cell.bits * BIT;
            let fill = if cell.name.is_some() { "#e8f0fa" } else { "#f2f2f2" };
            let _ = writeln!(
                out,
                "<rect x=\"{x}\" y=\"{y}\" width=\"{wide}\" height=\"{HEIGHT}\" fill=\"{fill}\" stroke=\"#555\"/>"
            );
            if let Some(name) = &cell.name {
                let middle = x + wide / 2;
                // Seven pixels are a letter's; what is too long is told when one points at it.
                let room = wide / 7;
                let shown: String = if name.len() > room {
                    name.chars().take(room.saturating_sub(1)).chain(['…']).collect()
                } else {
                    name.clone()
                };
                let _ = writeln!(
                    out,
                    "<text x=\"{middle}\" y=\"{text}\" text-anchor=\"middle\">{shown}<title>{name}</title></text>"
                );
            }
            x += wide;
        }
        if row.dwords > 1 {
            let _ = writeln!(out, "<text x=\"{}\" y=\"{text}\">x{}</text>", x + 6, row.dwords);
        }
    }
    out + "</svg>\n"
}
