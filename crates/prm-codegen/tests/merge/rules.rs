//! Every rule of the merge, on made-up sources, with what comes out worked out by hand.

use std::fmt::Write as _;

use prm_codegen::fault::SourceFile;
use prm_codegen::import::{self, HeaderFile, Reading};
use prm_codegen::merge::{Told, merge};
use prm_codegen::model::{Field, Rulings, Spec};
use prm_codegen::tables;

use super::common::{adb, assert_text};
use super::{again, families, wrong};

/// Reads a source: a header, or a database.
fn read(name: &str, text: &str) -> Reading {
    let reading = if text.starts_with('<') {
        import::adb(&SourceFile::new(format!("{name}.adb"), text))
    } else {
        let file = SourceFile::new(format!("{name}.h"), text);
        import::headers_leniently(&[HeaderFile { file, takes: Vec::new() }])
    };
    reading.unwrap_or_else(|e| panic!("{}", e.render()))
}

fn told(sources: &[(&str, &str)]) -> Vec<Told> {
    let told = |(name, text): &(&str, &str)| Told {
        source: (*name).to_owned(),
        reading: read(name, text),
    };
    sources.iter().map(told).collect()
}

/// What `rulings.toml` with this text rules.
fn rulings(text: &str) -> Rulings {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("rulings.toml"), text).unwrap();
    tables::read_sources(dir.path()).unwrap_or_else(|e| panic!("{}", e.render())).1
}

fn from(from: &[String]) -> String {
    if from.is_empty() { String::new() } else { format!(" ({})", from.join(" ")) }
}

fn field(f: &Field) -> String {
    let mut text = format!("{} {}", f.name, f.place());
    if let Some(access) = f.access {
        let _ = write!(text, " {}", access.name());
    }
    for (what, told) in [("over", &f.overlays), ("by", &f.selector), ("when", &f.when)] {
        if let Some(told) = told {
            let _ = write!(text, " {what} {told}");
        }
    }
    for value in &f.values {
        let _ = write!(text, " {}={}", value.name, value.value);
    }
    text + &from(&f.from)
}

/// All that a merge gives, a line each.
fn facts(spec: &Spec) -> String {
    let mut out = String::new();
    for l in &spec.layouts {
        let _ = writeln!(out, "{}: {}{}", l.name, l.extent(), from(&l.from));
        for f in &l.fields {
            let _ = writeln!(out, "  {}", field(f));
        }
    }
    for e in &spec.enums {
        let _ = writeln!(out, "enum {}{}", e.name, from(&e.from));
        for v in &e.values {
            let _ = writeln!(out, "  {} {}{}", v.name, v.value, from(&v.from));
        }
    }
    for r in &spec.registers {
        let layout = r.layout.as_deref().unwrap_or("-");
        let _ = writeln!(out, "0x{:04x} {} {layout}{}", r.id, r.name, from(&r.from));
    }
    for a in &spec.aliases {
        let _ = writeln!(out, "{} is {}{}", a.name, a.of, from(&a.from));
    }
    for c in &spec.conflicts {
        let _ = writeln!(out, "! {}: {} | {}{} {}", c.at, c.ours, c.theirs, from(&c.from), c.why);
    }
    out
}

/// Merges sources, and asserts what comes out. Whatever it is, it is sound, nothing is lost and
/// nothing invented.
#[track_caller]
fn gives(sources: &[(&str, &str)], ruled: &str, expected: &str) {
    let told = told(sources);
    let spec = merge(again(&told), rulings(ruled), families());
    let spec = spec.unwrap_or_else(|e| panic!("{}", e.render()));
    let lines: Vec<&str> =
        expected.lines().map(|l| l.strip_prefix("        ").unwrap_or(l)).collect();
    assert_text(lines.join("\n").trim_start_matches('\n').trim_end(), facts(&spec).trim_end());
    let wrong = wrong(&told, &spec);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Merges sources, and asserts what is told of them.
#[track_caller]
fn refuses(sources: &[(&str, &str)], ruled: &str, expected: &[&str]) {
    let faults = merge(told(sources), rulings(ruled), families()).expect_err("it is refused").0;
    let told: Vec<String> = faults.iter().map(|f| format!("{f}; {}", f.help)).collect();
    assert_eq!(told, expected);
}

#[test]
fn the_first_source_leads_and_later_ones_fill_its_gaps() {
    let kernel = "
        struct mlx5_ifc_lamp_bits { u8 on[1]; u8 reserved_at_1[7]; u8 color[8]; u8 reserved_at_10[16]; };
        struct mlx5_ifc_bulb_bits { u8 volt[32]; };";
    let tool = "
        struct mlx5_ifc_lamp_bits { u8 on[1]; u8 dim[3]; u8 rsvd[12]; u8 reserved[8]; u8 watt[8]; };
        struct mlx5_ifc_wall_bits { u8 bricks[2][32]; };
        struct mlx5_ifc_bulb_bits { u8 volt[32]; };";
    let lib = "
        struct mlx5_ifc_lamp_bits { u8 rsvd[4]; u8 on_for_ever[1]; u8 rsvd2[3]; u8 color[8]; u8 rsvd3[8]; u8 watt[8]; };";
    gives(
        &[("kernel", kernel), ("tool", tool), ("lib", lib)],
        "",
        "
        lamp: struct of 0x04 bytes (kernel tool lib)
          on 0x00 31:31 (kernel tool)
          dim 0x00 30:28 (tool)
          on_for_ever 0x00 27:27 (lib)
          color 0x00 23:16 (kernel lib)
          watt 0x00 7:0 (tool lib)
        bulb: struct of 0x04 bytes (kernel tool)
          volt 0x00 31:0
        wall: struct of 0x08 bytes (tool)
          bricks 0x00 31:0 [2]
        ",
    );
}

#[test]
fn the_same_bits_otherwise() {
    let kernel = "
        struct mlx5_ifc_lamp_bits {
            u8 on[1]; u8 reserved[3]; u8 color[8]; u8 heat[4]; u8 joint[16];
            u8 first[8]; u8 second[8]; u8 third[16];
            u8 moving[8]; u8 rsvd[24];
            u8 key[64];
        };";
    let tool = "
        struct mlx5_ifc_lamp_bits {
            u8 lit[1]; u8 reserved[3]; u8 color[4]; u8 rsvd[2]; u8 heat[6]; u8 half[8]; u8 other_half[8];
            u8 both[16]; u8 rsvd_2[16];
            u8 rsvd_3[24]; u8 moving[8];
            u8 key[2][32];
        };";
    gives(
        &[("kernel", kernel), ("tool", tool)],
        "",
        "
        lamp: struct of 0x14 bytes (kernel tool)
          on 0x00 31:31 (kernel)
          color 0x00 27:20 (kernel)
          heat 0x00 19:16 (kernel)
          joint 0x00 15:0 (kernel)
          first 0x04 31:24 (kernel)
          second 0x04 23:16 (kernel)
          third 0x04 15:0 (kernel)
          moving 0x08 31:24 (kernel)
          key 0x0c width 64 (kernel)
        ! lamp.lit: on 0x00 31:31 | 0x00 31:31 (tool) renamed
        ! lamp.color: 0x00 27:20 | 0x00 27:24 (tool) widened
        ! lamp.heat: 0x00 19:16 | 0x00 21:16 (tool) narrowed
        ! lamp.half: joint 0x00 15:0 | 0x00 15:8 (tool) joined
        ! lamp.other_half: joint 0x00 15:0 | 0x00 7:0 (tool) joined
        ! lamp.both: first 0x04 31:24, second 0x04 23:16 | 0x04 31:16 (tool) split
        ! lamp.moving: 0x08 31:24 | 0x08 7:0 (tool) moved
        ! lamp.key: 0x0c width 64 | 0x0c 31:0 [2] (tool) retyped
        ",
    );
}

#[test]
fn between_two_versions_of_linux_the_newer_one_changed_it() {
    let new = "
        struct mlx5_ifc_lamp_bits { u8 on[1]; u8 color[7]; u8 rsvd[24]; u8 watt[32]; };
        union mlx5_ifc_wall_bits { u8 brick[32]; };
        enum { MLX5_LAMP_LAST = 2 };";
    let old = "
        struct mlx5_ifc_lamp_bits { u8 lit[1]; u8 color[3]; u8 rsvd[4]; u8 old[24]; };
        struct mlx5_ifc_wall_bits { u8 brick[32]; };
        enum { MLX5_LAMP_LAST = 1 };";
    // What both say otherwise than a third one is told once.
    gives(
        &[("v7.3", new), ("v6.12", old), ("v6.1", old), ("tool", old)],
        "",
        "
        lamp: struct of 0x08 bytes (v7.3 v6.12 v6.1 tool)
          on 0x00 31:31 (v7.3)
          color 0x00 30:24 (v7.3)
          old 0x00 23:0 (v6.12 v6.1 tool)
          watt 0x04 31:0 (v7.3)
        wall: union of 0x04 bytes (v7.3 v6.12 v6.1 tool)
          brick 0x00 31:0
        enum mlx5_lamp_last (v7.3 v6.12 v6.1 tool)
          MLX5_LAMP_LAST 2 (v7.3)
        ! lamp: struct of 0x08 bytes | struct of 0x04 bytes (v6.12 v6.1) later revision
        ! lamp.lit: on 0x00 31:31 | 0x00 31:31 (v6.12 v6.1) later revision
        ! lamp.color: 0x00 30:24 | 0x00 30:28 (v6.12 v6.1) later revision
        ! wall: union of 0x04 bytes | struct of 0x04 bytes (v6.12 v6.1) later revision
        ! MLX5_LAMP_LAST: 0x2 | 0x1 (v6.12 v6.1 tool) another number
        ! lamp: struct of 0x08 bytes | struct of 0x04 bytes (tool) longer
        ! lamp.lit: on 0x00 31:31 | 0x00 31:31 (tool) renamed
        ! lamp.color: 0x00 30:24 | 0x00 30:28 (tool) widened
        ! wall: union of 0x04 bytes | struct of 0x04 bytes (tool) another kind
        ",
    );
    // Who leads is what counts: a version of Linux is no later revision of a tool.
    gives(
        &[("tool", new), ("v6.1", "struct mlx5_ifc_lamp_bits { u8 lit[1]; u8 rsvd[63]; };")],
        "",
        "
        lamp: struct of 0x08 bytes (tool v6.1)
          on 0x00 31:31 (tool)
          color 0x00 30:24 (tool)
          watt 0x04 31:0 (tool)
        wall: union of 0x04 bytes (tool)
          brick 0x00 31:0
        enum mlx5_lamp_last (tool)
          MLX5_LAMP_LAST 2
        ! lamp.lit: on 0x00 31:31 | 0x00 31:31 (v6.1) renamed
        ",
    );
}

#[test]
fn lengths_and_kinds() {
    let kernel = "
        struct mlx5_ifc_lamp_bits { u8 on[1]; u8 rsvd[31]; u8 rsvd_2[32]; };
        struct mlx5_ifc_bulb_bits { u8 rsvd[16]; u8 volt[16]; };
        union mlx5_ifc_shade_bits { u8 hue[32]; };
        struct mlx5_ifc_page_bits { u8 words[32]; u8 list[][32]; };";
    let tool = "
        struct mlx5_ifc_lamp_bits { u8 on[1]; u8 rsvd[31]; };
        struct mlx5_ifc_bulb_bits { u8 rsvd[16]; u8 volt[16]; u8 watt[32]; u8 ohm[2][32]; u8 list[][64]; };
        struct mlx5_ifc_shade_bits { u8 hue[8]; u8 dark[24]; };
        struct mlx5_ifc_page_bits { u8 words[32]; u8 more[32]; };";
    gives(
        &[("kernel", kernel), ("tool", tool)],
        "",
        "
        lamp: struct of 0x08 bytes (kernel tool)
          on 0x00 31:31
        bulb: struct of 0x04 bytes (kernel tool)
          volt 0x00 15:0
        shade: union of 0x04 bytes (kernel tool)
          hue 0x00 31:0 (kernel)
        page: struct of 0x04 bytes (kernel tool)
          words 0x00 31:0
          list 0x04 31:0 [] (kernel)
        ! lamp: struct of 0x08 bytes | struct of 0x04 bytes (tool) longer
        ! bulb: struct of 0x04 bytes | struct of 0x10 bytes (tool) shorter
        ! bulb.watt: 0x04 bytes | 0x04 31:0 (tool) past the end
        ! bulb.ohm: 0x04 bytes | 0x08 31:0 [2] (tool) past the end
        ! bulb.list: 0x04 bytes | 0x10 width 64 [] (tool) past the end
        ! shade: union of 0x04 bytes | struct of 0x04 bytes (tool) another kind
        ! shade.hue: 0x00 31:0 | 0x00 31:24 (tool) widened
        ! shade.dark: union of 0x04 bytes | 0x00 23:0 (tool) another kind
        ! page: struct of 0x04 bytes | struct of 0x08 bytes (tool) shorter
        ! page.more: 0x04 bytes | 0x04 31:0 (tool) past the end
        ",
    );
}

#[test]
fn a_list_goes_on_to_the_end() {
    let kernel = "struct mlx5_ifc_page_bits { u8 rsvd[32]; u8 words[32]; };";
    // Where the kernel has a gap, the list has a place; where it has a field, not.
    gives(
        &[
            ("kernel", kernel),
            ("tool", "struct mlx5_ifc_page_bits { u8 list[][32]; };"),
            ("lib", "struct mlx5_ifc_page_bits { u8 rsvd[64]; u8 tail[][8]; };"),
            ("base", "struct mlx5_ifc_page_bits { u8 rsvd[64]; u8 tail[][16]; };"),
        ],
        "",
        "
        page: struct of 0x08 bytes (kernel tool lib base)
          words 0x04 31:0 (kernel)
          tail 0x08 31:24 [] (lib)
        ! page: struct of 0x08 bytes | struct of 0x00 bytes (tool) longer
        ! page.list: words 0x04 31:0 | 0x00 31:0 [] (tool) split
        ! page.tail: 0x08 31:24 [] | 0x08 31:16 [] (base) retyped
        ",
    );
}

#[test]
fn a_layout_of_another_length_is_told_once() {
    // Of the two that hold the bulb, one is known and one is not.
    let kernel = "
        struct mlx5_ifc_bulb_bits { u8 volt[32]; u8 watt[32]; };
        struct mlx5_ifc_lamp_bits { struct mlx5_ifc_bulb_bits bulb; u8 on[32]; };
        struct mlx5_ifc_wall_bits { u8 brick[32]; u8 rsvd[64]; };";
    let tool = "
        struct mlx5_ifc_bulb_bits { u8 volt[32]; };
        struct mlx5_ifc_lamp_bits { struct mlx5_ifc_bulb_bits bulb; u8 rsvd[32]; u8 on[32]; };
        struct mlx5_ifc_wall_bits { u8 brick[32]; struct mlx5_ifc_bulb_bits bulb; };
        struct mlx5_ifc_room_bits { u8 rsvd[32]; struct mlx5_ifc_bulb_bits bulb; };";
    gives(
        &[("kernel", kernel), ("tool", tool)],
        "",
        "
        bulb: struct of 0x08 bytes (kernel tool)
          volt 0x00 31:0
          watt 0x04 31:0 (kernel)
        lamp: struct of 0x0c bytes (kernel tool)
          bulb 0x00 bulb
          on 0x08 31:0
        wall: struct of 0x0c bytes (kernel tool)
          brick 0x00 31:0
        room: struct of 0x08 bytes (tool)
        ! bulb: struct of 0x08 bytes | struct of 0x04 bytes (tool) longer
        ! wall: struct of 0x0c bytes | struct of 0x08 bytes (tool) longer
        ! wall.bulb: a layout of 0x08 bytes | 0x04 bulb (tool) holds a conflict
        ! room.bulb: a layout of 0x08 bytes | 0x04 bulb (tool) holds a conflict
        ",
    );
}

#[test]
fn unions_get_members() {
    let kernel = "
        struct mlx5_ifc_bulb_bits { u8 volt[32]; };
        union mlx5_ifc_part_bits { struct mlx5_ifc_bulb_bits bulb; u8 rsvd[64]; };";
    let tool = "
        struct mlx5_ifc_bulb_bits { u8 volt[32]; };
        struct mlx5_ifc_cable_bits { u8 ohm[64]; };
        struct mlx5_ifc_plug_bits { u8 pins[96]; };
        union mlx5_ifc_part_bits {
            struct mlx5_ifc_bulb_bits bulb; struct mlx5_ifc_cable_bits cable; u8 raw[2][32];
            struct mlx5_ifc_plug_bits plug;
        };";
    gives(
        &[("kernel", kernel), ("tool", tool)],
        "",
        "
        bulb: struct of 0x04 bytes (kernel tool)
          volt 0x00 31:0
        part: union of 0x08 bytes (kernel tool)
          bulb 0x00 bulb
          cable 0x00 cable (tool)
          raw 0x00 31:0 [2] (tool)
        cable: struct of 0x08 bytes (tool)
          ohm 0x00 width 64
        plug: struct of 0x0c bytes (tool)
          pins 0x00 width 96
        ! part: union of 0x08 bytes | union of 0x0c bytes (tool) shorter
        ! part.plug: 0x08 bytes | 0x00 plug (tool) past the end
        ",
    );
}

#[test]
fn unnamed_unions_of_a_later_source() {
    // The kernel has one arm of the union, of two fields; a later source has three arms, the last
    // of which goes on behind the others.
    let kernel =
        "struct mlx5_ifc_lamp_bits { u8 on[8]; u8 color[8]; u8 rsvd[16]; u8 rsvd_2[32]; };";
    let tool = "
        struct mlx5_ifc_lamp_bits {
            union {
                struct { u8 on[8]; u8 color[8]; };
                u8 both[16];
                struct { u8 rsvd[8]; u8 late[24]; };
            };
            u8 rsvd_2[32];
        };";
    gives(
        &[("kernel", kernel), ("tool", tool)],
        "",
        "
        lamp: struct of 0x08 bytes (kernel tool)
          on 0x00 31:24
          both 0x00 31:16 over on (tool)
          color 0x00 23:16 over on
          late 0x00 23:0 over on (tool)
        ",
    );
    // A field that is in no arm is no member.
    gives(
        &[
            ("kernel", "struct mlx5_ifc_lamp_bits { u8 on[8]; u8 heat[8]; u8 rsvd[16]; };"),
            (
                "tool",
                "struct mlx5_ifc_lamp_bits { union { u8 on[8]; u8 wide[16]; }; u8 rsvd[16]; };",
            ),
        ],
        "",
        "
        lamp: struct of 0x04 bytes (kernel tool)
          on 0x00 31:24
          heat 0x00 23:16 (kernel)
        ! lamp.wide: on 0x00 31:24, heat 0x00 23:16 | 0x00 31:16 (tool) split
        ",
    );
    // A member that lies beside the first one is a member all the same, where the first one is one.
    let arms = "
        struct mlx5_ifc_lamp_bits {
            union { u8 on[8]; struct { u8 rsvd[16]; u8 late[8]; u8 rsvd_2[8]; }; };
        };";
    gives(
        &[("kernel", "struct mlx5_ifc_lamp_bits { u8 rsvd[32]; };"), ("tool", arms)],
        "",
        "
        lamp: struct of 0x04 bytes (kernel tool)
          on 0x00 31:24 (tool)
          late 0x00 15:8 over on (tool)
        ",
    );
    gives(
        &[("kernel", "struct mlx5_ifc_lamp_bits { u8 lit[8]; u8 rsvd[24]; };"), ("tool", arms)],
        "",
        "
        lamp: struct of 0x04 bytes (kernel tool)
          lit 0x00 31:24 (kernel)
          late 0x00 15:8 (tool)
        ! lamp.on: lit 0x00 31:24 | 0x00 31:24 (tool) renamed
        ",
    );
    // A union in a gap stays one.
    gives(
        &[
            ("kernel", "struct mlx5_ifc_lamp_bits { u8 rsvd[32]; u8 on[32]; };"),
            (
                "tool",
                "struct mlx5_ifc_lamp_bits { union { u8 volt[32]; u8 watt[8]; }; u8 on[32]; };",
            ),
            (
                "lib",
                "struct mlx5_ifc_lamp_bits { union { u8 volt[32]; u8 watt[8]; u8 ohm[2][16]; }; };",
            ),
        ],
        "",
        "
        lamp: struct of 0x08 bytes (kernel tool lib)
          volt 0x00 31:0 (tool lib)
          watt 0x00 31:24 over volt (tool lib)
          ohm 0x00 31:16 [2] over volt (lib)
          on 0x04 31:0 (kernel tool)
        ! lamp: struct of 0x08 bytes | struct of 0x04 bytes (lib) longer
        ",
    );
}

#[test]
fn one_layout_under_the_same_words() {
    // Words in another order, and those that say nothing; half of the fields are enough.
    let kernel = "
        struct mlx5_ifc_lamp_color_bits { u8 red[8]; u8 green[8]; u8 blue[8]; u8 rsvd[8]; };
        struct mlx5_ifc_wall_bits { struct mlx5_ifc_lamp_color_bits color; };";
    let tool = "
        struct mlx5_ifc_color_lamp_reg_bits { u8 red[8]; u8 green[8]; u8 white[8]; u8 glow[8]; };
        struct mlx5_ifc_wall_bits { struct mlx5_ifc_color_lamp_reg_bits color; };";
    let lib = "struct mlx5_ifc_color_lamp_reg_bits { u8 red[8]; u8 rsvd[24]; };";
    gives(
        &[("kernel", kernel), ("tool", tool), ("lib", lib)],
        "",
        "
        lamp_color: struct of 0x04 bytes (kernel tool lib)
          red 0x00 31:24
          green 0x00 23:16 (kernel tool)
          blue 0x00 15:8 (kernel)
          glow 0x00 7:0 (tool)
        wall: struct of 0x04 bytes (kernel tool)
          color 0x00 lamp_color
        color_lamp_reg is lamp_color (tool lib)
        ! lamp_color.white: blue 0x00 15:8 | 0x00 15:8 (tool) renamed
        ",
    );
    // Half of the fields is enough.
    gives(
        &[
            (
                "kernel",
                "struct mlx5_ifc_lamp_color_bits { u8 red[8]; u8 rsvd[8]; u8 green[8]; u8 rsvd_2[8]; };",
            ),
            ("tool", "struct mlx5_ifc_color_lamp_bits { u8 red[8]; u8 hue[8]; u8 rsvd[16]; };"),
        ],
        "",
        "
        lamp_color: struct of 0x04 bytes (kernel tool)
          red 0x00 31:24
          hue 0x00 23:16 (tool)
          green 0x00 15:8 (kernel)
        color_lamp is lamp_color (tool)
        ",
    );
    // A union is no struct.
    gives(
        &[
            ("kernel", "union mlx5_ifc_lamp_color_bits { u8 red[32]; };"),
            ("tool", "struct mlx5_ifc_color_lamp_bits { u8 red[32]; };"),
        ],
        "",
        "
        lamp_color: union of 0x04 bytes (kernel)
          red 0x00 31:0
        color_lamp: struct of 0x04 bytes (tool)
          red 0x00 31:0
        ",
    );
    // Less than half of the fields are not.
    gives(
        &[
            ("kernel", "struct mlx5_ifc_lamp_color_bits { u8 red[8]; u8 green[8]; u8 blue[16]; };"),
            ("tool", "struct mlx5_ifc_color_lamp_bits { u8 red[8]; u8 hue[8]; u8 glow[16]; };"),
        ],
        "",
        "
        lamp_color: struct of 0x04 bytes (kernel)
          red 0x00 31:24
          green 0x00 23:16
          blue 0x00 15:0
        color_lamp: struct of 0x04 bytes (tool)
          red 0x00 31:24
          hue 0x00 23:16
          glow 0x00 15:0
        ",
    );
}

#[test]
fn one_layout_of_the_same_shape() {
    let kernel = "struct mlx5_ifc_lamp_bits { u8 opcode[16]; u8 rsvd[16]; u8 on[8]; u8 color[8]; u8 heat[8]; u8 watt[8]; };";
    let tool = "struct mlx5_ifc_light_bits { u8 opcode[16]; u8 uid[16]; u8 on[8]; u8 color[8]; u8 heat[8]; u8 watt[8]; };";
    gives(
        &[("kernel", kernel), ("tool", tool)],
        "",
        "
        lamp: struct of 0x08 bytes (kernel tool)
          opcode 0x00 31:16
          uid 0x00 15:0 (tool)
          on 0x04 31:24
          color 0x04 23:16
          heat 0x04 15:8
          watt 0x04 7:0
        light is lamp (tool)
        ",
    );
    // Three fields of its own are too few, whatever else every mailbox has.
    let kernel = "struct mlx5_ifc_lamp_bits { u8 opcode[16]; u8 uid[16]; u8 on[8]; u8 color[8]; u8 heat[16]; };";
    let tool = "struct mlx5_ifc_light_bits { u8 opcode[16]; u8 uid[16]; u8 on[8]; u8 color[8]; u8 heat[16]; };";
    gives(
        &[("kernel", kernel), ("tool", tool)],
        "",
        "
        lamp: struct of 0x08 bytes (kernel)
          opcode 0x00 31:16
          uid 0x00 15:0
          on 0x04 31:24
          color 0x04 23:16
          heat 0x04 15:0
        light: struct of 0x08 bytes (tool)
          opcode 0x00 31:16
          uid 0x00 15:0
          on 0x04 31:24
          color 0x04 23:16
          heat 0x04 15:0
        ",
    );
}

#[test]
fn fields_that_are_cut_otherwise_make_no_shape() {
    let kernel = "struct mlx5_ifc_lamp_bits { u8 on[8]; u8 color[8]; u8 heat[8]; u8 watt[8]; };";
    let tool =
        "struct mlx5_ifc_light_bits { u8 on[8]; u8 color[8]; u8 heat[1][8]; u8 watt[1][8]; };";
    gives(
        &[("kernel", kernel), ("tool", tool)],
        "",
        "
        lamp: struct of 0x04 bytes (kernel)
          on 0x00 31:24
          color 0x00 23:16
          heat 0x00 15:8
          watt 0x00 7:0
        light: struct of 0x04 bytes (tool)
          on 0x00 31:24
          color 0x00 23:16
          heat 0x00 15:8 [1]
          watt 0x00 7:0 [1]
        ",
    );
}

const TWO_LAMPS: &str = "
    struct mlx5_ifc_lamp_bits { u8 on[8]; u8 color[8]; u8 heat[8]; u8 watt[8]; };
    struct mlx5_ifc_bulb_bits { u8 on[8]; u8 color[8]; u8 heat[8]; u8 volt[8]; };";
const LIGHT: &str = "struct mlx5_ifc_light_bits { u8 on[8]; u8 color[8]; u8 heat[8]; u8 ohm[8]; };";

#[test]
fn a_layout_that_is_like_two_is_neither() {
    gives(
        &[("kernel", TWO_LAMPS), ("tool", LIGHT)],
        "",
        "
        lamp: struct of 0x04 bytes (kernel)
          on 0x00 31:24
          color 0x00 23:16
          heat 0x00 15:8
          watt 0x00 7:0
        bulb: struct of 0x04 bytes (kernel)
          on 0x00 31:24
          color 0x00 23:16
          heat 0x00 15:8
          volt 0x00 7:0
        light: struct of 0x04 bytes (tool)
          on 0x00 31:24
          color 0x00 23:16
          heat 0x00 15:8
          ohm 0x00 7:0
        ",
    );
    // Nor are two of one source one of another: the first that is alike is it.
    gives(
        &[("kernel", LIGHT), ("tool", TWO_LAMPS)],
        "",
        "
        light: struct of 0x04 bytes (kernel tool)
          on 0x00 31:24
          color 0x00 23:16
          heat 0x00 15:8
          ohm 0x00 7:0 (kernel)
        bulb: struct of 0x04 bytes (tool)
          on 0x00 31:24
          color 0x00 23:16
          heat 0x00 15:8
          volt 0x00 7:0
        lamp is light (tool)
        ! light.watt: ohm 0x00 7:0 | 0x00 7:0 (tool) renamed
        ",
    );
}

#[test]
fn rulings_about_names() {
    // One that says which of two it is.
    gives(
        &[("kernel", TWO_LAMPS), ("tool", LIGHT)],
        "[[alias]]\nname = \"light\"\nof = \"bulb\"\n",
        "
        lamp: struct of 0x04 bytes (kernel)
          on 0x00 31:24
          color 0x00 23:16
          heat 0x00 15:8
          watt 0x00 7:0
        bulb: struct of 0x04 bytes (kernel tool)
          on 0x00 31:24
          color 0x00 23:16
          heat 0x00 15:8
          volt 0x00 7:0 (kernel)
        light is bulb (tool)
        ! bulb.ohm: volt 0x00 7:0 | 0x00 7:0 (tool) renamed
        ",
    );
    // One that says that it is not.
    let lamp = "struct mlx5_ifc_lamp_bits { u8 on[8]; u8 color[8]; u8 heat[8]; u8 watt[8]; };";
    gives(
        &[("kernel", lamp), ("tool", LIGHT)],
        "[[distinct]]\nname = \"light\"\nof = \"lamp\"\n",
        "
        lamp: struct of 0x04 bytes (kernel)
          on 0x00 31:24
          color 0x00 23:16
          heat 0x00 15:8
          watt 0x00 7:0
        light: struct of 0x04 bytes (tool)
          on 0x00 31:24
          color 0x00 23:16
          heat 0x00 15:8
          ohm 0x00 7:0
        ",
    );
    // One for what no rule would find.
    gives(
        &[("kernel", lamp), ("tool", "struct mlx5_ifc_fire_bits { u8 smoke[64]; };")],
        "[[alias]]\nname = \"fire\"\nof = \"lamp\"\n",
        "
        lamp: struct of 0x04 bytes (kernel tool)
          on 0x00 31:24 (kernel)
          color 0x00 23:16 (kernel)
          heat 0x00 15:8 (kernel)
          watt 0x00 7:0 (kernel)
        fire is lamp (tool)
        ! lamp: struct of 0x04 bytes | struct of 0x08 bytes (tool) shorter
        ! lamp.smoke: 0x04 bytes | 0x00 width 64 (tool) past the end
        ",
    );
}

#[test]
fn a_ruling_about_one_name_says_nothing_of_another() {
    let kernel = "struct mlx5_ifc_lamp_color_bits { u8 red[8]; u8 green[24]; };";
    let tool = "
        struct mlx5_ifc_color_lamp_bits { u8 red[8]; u8 green[24]; };
        struct mlx5_ifc_lamp_color_reg_bits { u8 red[8]; u8 green[24]; };";
    gives(
        &[("kernel", kernel), ("tool", tool)],
        "[[distinct]]\nname = \"color_lamp\"\nof = \"lamp_color\"\n",
        "
        lamp_color: struct of 0x04 bytes (kernel tool)
          red 0x00 31:24
          green 0x00 23:0
        color_lamp: struct of 0x04 bytes (tool)
          red 0x00 31:24
          green 0x00 23:0
        lamp_color_reg is lamp_color (tool)
        ",
    );
}

#[test]
fn names_that_mean_two_things_are_refused() {
    let kernel = "struct mlx5_ifc_lamp_bits { u8 on[8]; u8 color[8]; u8 heat[8]; u8 watt[8]; };";
    let both = format!("{kernel}{LIGHT}");
    let refused = "tool.h:1: light is lamp in tool, and a layout of its own in lib; add a \
                   [[distinct]] or an [[alias]] with name = \"light\" to rulings.toml";
    refuses(&[("kernel", kernel), ("tool", LIGHT), ("lib", &both)], "", &[refused]);
    gives(
        &[("kernel", kernel), ("tool", LIGHT), ("lib", &both)],
        "[[distinct]]\nname = \"light\"\nof = \"lamp\"\n",
        "
        lamp: struct of 0x04 bytes (kernel lib)
          on 0x00 31:24
          color 0x00 23:16
          heat 0x00 15:8
          watt 0x00 7:0
        light: struct of 0x04 bytes (tool lib)
          on 0x00 31:24
          color 0x00 23:16
          heat 0x00 15:8
          ohm 0x00 7:0
        ",
    );
}

#[test]
fn rulings_that_rule_nothing_are_refused() {
    let kernel = "struct mlx5_ifc_lamp_bits { u8 on[32]; }; enum { MLX5_REG_LAMP = 1 };";
    let ruled = "
[[alias]]
name = \"light\"
of = \"lamp\"
[[distinct]]
name = \"light\"
of = \"lamp\"
[[register]]
name = \"LAMP\"
of = \"light\"
[[register]]
name = \"BULB\"
of = \"lamp\"
[[reason]]
at = \"lamp.*\"
why = \"not decided\"
[[reason]]
at = \"lamp.on\"
from = \"tool\"
why = \"not decided\"
";
    let refused = |line: usize, about: &str, why: &str| {
        format!(
            "{}:{line}: this ruling about {about} rules nothing; {why}: correct the ruling, or remove it",
            "rulings.toml"
        )
    };
    let faults = merge(told(&[("kernel", kernel)]), rulings(ruled), families()).unwrap_err().0;
    let told: Vec<String> = faults
        .iter()
        .map(|f| {
            let text = format!("{f}; {}", f.help);
            text[text.find("rulings.toml").unwrap()..].to_owned()
        })
        .collect();
    assert_eq!(
        told,
        [
            refused(3, "light", "no source has light, or none before it has lamp"),
            refused(6, "light", "no rule takes light for lamp"),
            refused(9, "LAMP", "no source has the layout light"),
            refused(12, "BULB", "no source has a register BULB without a layout"),
            refused(14, "lamp.*", "there is no conflict about lamp.*"),
            refused(17, "lamp.on", "there is no conflict with tool about lamp.on"),
        ]
    );
}

#[test]
fn rulings_say_why() {
    let kernel = "
        struct mlx5_ifc_lamp_bits { u8 on[1]; u8 color[7]; u8 rsvd[24]; };
        struct mlx5_ifc_bulb_bits { u8 volt[16]; u8 watt[16]; };";
    let tool = "
        struct mlx5_ifc_lamp_bits { u8 lit[1]; u8 hue[7]; u8 rsvd[24]; };
        struct mlx5_ifc_bulb_bits { u8 volts[16]; u8 watts[16]; };";
    // The first that fits counts; one for a source is for this source.
    let ruled = "
[[reason]]
at = \"lamp.lit\"
from = \"lib\"
why = \"mistake upstream\"
[[reason]]
at = \"lamp.*\"
why = \"not decided\"
[[reason]]
at = \"*.watts\"
why = \"ours is shorter\"
";
    gives(
        &[("kernel", kernel), ("tool", tool), ("lib", tool)],
        ruled,
        "
        lamp: struct of 0x04 bytes (kernel tool lib)
          on 0x00 31:31 (kernel)
          color 0x00 30:24 (kernel)
        bulb: struct of 0x04 bytes (kernel tool lib)
          volt 0x00 31:16 (kernel)
          watt 0x00 15:0 (kernel)
        ! lamp.lit: on 0x00 31:31 | 0x00 31:31 (tool) not decided
        ! lamp.hue: color 0x00 30:24 | 0x00 30:24 (tool lib) not decided
        ! bulb.volts: volt 0x00 31:16 | 0x00 31:16 (tool lib) renamed
        ! bulb.watts: watt 0x00 15:0 | 0x00 15:0 (tool lib) ours is shorter
        ! lamp.lit: on 0x00 31:31 | 0x00 31:31 (lib) mistake upstream
        ",
    );
}

#[test]
fn a_new_enumerator_goes_where_most_of_its_enumeration_are() {
    let kernel = "
        enum lamp { MLX5_LAMP_ON = 0, MLX5_LAMP_OFF = -1, MLX5_LAMP_DIM = -2 };
        enum wall { MLX5_WALL_NORTH = 16, MLX5_WALL_SOUTH };";
    let tool =
        "enum both { MLX5_LAMP_ON = -3, MLX5_WALL_NORTH = 16, MLX5_WALL_SOUTH, MLX5_WALL_EAST };";
    let lib = "enum lamp { MLX5_LAMP_OFF = 0, MLX5_WALL_NORTH = 0 };";
    gives(
        &[("kernel", kernel), ("tool", tool), ("lib", lib)],
        "",
        "
        enum lamp (kernel lib)
          MLX5_LAMP_ON 0 (kernel)
          MLX5_LAMP_OFF -1 (kernel)
          MLX5_LAMP_DIM -2 (kernel)
        enum wall (kernel tool)
          MLX5_WALL_NORTH 16
          MLX5_WALL_SOUTH 17
          MLX5_WALL_EAST 18 (tool)
        ! MLX5_LAMP_ON: 0x0 | -3 (tool) another number
        ! MLX5_LAMP_OFF: -1 | 0x0 (lib) another number
        ! MLX5_WALL_NORTH: 0x10 | 0x0 (lib) another number
        ",
    );
}

#[test]
fn enumerators_are_there_once() {
    let kernel = "
        enum { MLX5_COLOR_RED = 1, MLX5_COLOR_GREEN = 2 };
        enum wall { MLX5_WALL_NORTH, MLX5_WALL_SOUTH };
        enum { MLX5_COLOR_OF_WALL_WHITE = 1, MLX5_COLOR_OF_WALL_BLACK };";
    // A known one is where it was, a new one goes where most of its enumeration are.
    let tool = "
        enum colors { MLX5_COLOR_GREEN = 2, MLX5_COLOR_RED = 1, MLX5_COLOR_BLUE = 4, MLX5_WALL_NORTH = 0 };
        enum { MLX5_WALL_SOUTH = 2, MLX5_WALL_EAST = -1 };
        enum { MLX5_COLOR_NONE = 0 };";
    let lib = "
        enum { UCT_IB_MLX5_COLOR_RED = 1, UCT_IB_MLX5_COLOR_BLUE = 3, UCT_IB_MLX5_COLOR_PINK = 8 };
        enum uct_ib_mlx5_lamp { UCT_IB_MLX5_LAMP_ON = 1 };
        enum { MLX5_COLOR_NONE = 0 };";
    gives(
        &[("kernel", kernel), ("tool", tool), ("lib", lib)],
        "",
        "
        enum mlx5_color (kernel tool lib)
          MLX5_COLOR_RED 1
          MLX5_COLOR_GREEN 2 (kernel tool)
          MLX5_COLOR_BLUE 4 (tool)
          MLX5_COLOR_PINK 8 (lib)
        enum wall (kernel tool)
          MLX5_WALL_NORTH 0
          MLX5_WALL_SOUTH 1 (kernel)
          MLX5_WALL_EAST -1 (tool)
        enum mlx5_color_of_wall (kernel)
          MLX5_COLOR_OF_WALL_WHITE 1
          MLX5_COLOR_OF_WALL_BLACK 2
        enum mlx5_color_none (tool lib)
          MLX5_COLOR_NONE 0
        enum mlx5_lamp (lib)
          MLX5_LAMP_ON 1
        ! MLX5_WALL_SOUTH: 0x1 | 0x2 (tool) another number
        ! MLX5_COLOR_BLUE: 0x4 | 0x3 (lib) another number
        ",
    );
    // Of two enumerations called alike, the second gets a number.
    gives(
        &[
            ("kernel", "enum { MLX5_A_B = 1, MLX5_A_C };"),
            ("tool", "enum { MLX5_A_D = 1, MLX5_A_E };"),
        ],
        "",
        "
        enum mlx5_a (kernel)
          MLX5_A_B 1
          MLX5_A_C 2
        enum mlx5_a_2 (tool)
          MLX5_A_D 1
          MLX5_A_E 2
        ",
    );
}

/// A database with the registers LAMP and WALL.
fn database() -> String {
    adb(
        r#"
<node name="lamp_reg_ext" size="0x8.0" descr="">
    <field name="lit" offset="0x0.31" size="0x0.1" access="RW" enum="off=0x0,on=0x1" descr="" />
    <field name="color" offset="0x0.0" size="0x0.8" access="RO" descr="" />
    <field name="slot" offset="0x4.16" size="0x0.8" access="INDEX" descr="" />
</node>
<node name="wall_reg_ext" size="0x4.0" descr="">
    <field name="bricks" offset="0x0.0" size="0x4.0" access="OP" descr="" />
</node>"#,
        &[("lamp_reg_ext", "0x8.0", "LAMP", 0x4001), ("wall_reg_ext", "0x4.0", "wall", 0x4002)],
    )
}

#[test]
fn registers_have_ids_and_layouts() {
    let kernel = "
        enum {
            MLX5_REG_LAMP = 0x4001, MLX5_REG_WALL = 0x4002, MLX5_REG_DOOR = 0x4003,
            MLX5_REG_ROOF = 0x4004, MLX5_REG_ROOM = 0x4005, MLX5_REG_HUGE = 0x10000,
        };
        struct mlx5_ifc_door_reg_bits { u8 open[32]; };
        struct mlx5_ifc_roof_reg_bits { u8 tiles[32]; };
        struct mlx5_ifc_register_roof_bits { u8 rain[32]; };
        struct mlx5_ifc_room_bits { u8 opcode[16]; u8 rsvd[16]; };";
    let tool =
        "enum { MLX5_REGISTER_ID_LAMP = 0x4001, MLX5_REG_WALLS = 0x4002, MLX5_REG_MOAT = 0x3fff };";
    // Two layouts are called as the roof is, and the room is a mailbox: neither has a layout, until
    // it is ruled.
    gives(
        &[("kernel", kernel), ("tool", tool), ("base", &database())],
        "[[register]]\nname = \"ROOF\"\nof = \"register_roof\"\n",
        "
        door_reg: struct of 0x04 bytes (kernel)
          open 0x00 31:0
        roof_reg: struct of 0x04 bytes (kernel)
          tiles 0x00 31:0
        register_roof: struct of 0x04 bytes (kernel)
          rain 0x00 31:0
        room: struct of 0x04 bytes (kernel)
          opcode 0x00 31:16
        lamp_reg: struct of 0x08 bytes (base)
          lit 0x00 31:31 RW off=0 on=1
          color 0x00 7:0 RO
          slot 0x04 23:16 INDEX
        wall_reg: struct of 0x04 bytes (base)
          bricks 0x00 31:0 OP
        enum mlx5_reg (kernel)
          MLX5_REG_LAMP 16385
          MLX5_REG_WALL 16386
          MLX5_REG_DOOR 16387
          MLX5_REG_ROOF 16388
          MLX5_REG_ROOM 16389
          MLX5_REG_HUGE 65536
        enum mlx5 (tool)
          MLX5_REGISTER_ID_LAMP 16385
          MLX5_REG_WALLS 16386
          MLX5_REG_MOAT 16383
        0x3fff MOAT - (tool)
        0x4001 LAMP lamp_reg (kernel tool base)
        0x4002 WALL wall_reg (kernel tool base)
        0x4003 DOOR door_reg (kernel)
        0x4004 ROOF register_roof (kernel)
        0x4005 ROOM - (kernel)
        ! register 0x4002: WALL | WALLS (tool) renamed
        ",
    );
}

#[test]
fn a_register_whose_layout_is_not_sure_has_none() {
    let kernel = "
        enum { MLX5_REG_ROOF = 0x4004 };
        struct mlx5_ifc_roof_reg_bits { u8 tiles[32]; };
        struct mlx5_ifc_register_roof_bits { u8 rain[32]; };";
    gives(
        &[("kernel", kernel)],
        "",
        "
        roof_reg: struct of 0x04 bytes (kernel)
          tiles 0x00 31:0
        register_roof: struct of 0x04 bytes (kernel)
          rain 0x00 31:0
        enum mlx5_reg_roof (kernel)
          MLX5_REG_ROOF 16388
        0x4004 ROOF - (kernel)
        ",
    );
}

#[test]
fn layouts_of_registers_that_differ_are_told() {
    let other = adb(
        r#"
<node name="door_reg_ext" size="0x4.0" descr="">
    <field name="open" offset="0x0.0" size="0x4.0" access="RO" descr="" />
</node>"#,
        &[("door_reg_ext", "0x4.0", "LAMP", 0x4001)],
    );
    gives(
        &[("base", &database()), ("other", &other)],
        "",
        "
        lamp_reg: struct of 0x08 bytes (base)
          lit 0x00 31:31 RW off=0 on=1
          color 0x00 7:0 RO
          slot 0x04 23:16 INDEX
        wall_reg: struct of 0x04 bytes (base)
          bricks 0x00 31:0 OP
        door_reg: struct of 0x04 bytes (other)
          open 0x00 31:0 RO
        0x4001 LAMP lamp_reg (base other)
        0x4002 wall wall_reg (base)
        ! register 0x4001: layout lamp_reg | layout door_reg (other) retyped
        ",
    );
}

#[test]
fn a_register_has_one_id_one_name_and_one_layout() {
    let kernel = "
        enum { MLX5_REG_LAMP = 0x4001, MLX5_REG_DOOR = 0x4003, MLX5_REG_REG_DOOR = 0x4004 };
        struct mlx5_ifc_door_reg_bits { u8 open[32]; };";
    // Another id of a name, and a name of another id.
    let tool = "enum { MLX5_REG_LAMP_OLD = 1 }; enum { MLX5_REGISTER_ID_LAMP = 0x4009, MLX5_REGISTER_ID_WALL = 0x4003 };";
    // The layout of another register, known or not.
    let base = adb(
        r#"
<node name="lamp_reg_ext" size="0x4.0" descr="">
    <field name="lit" offset="0x0.31" size="0x0.1" descr="" />
</node>"#,
        &[("lamp_reg_ext", "0x4.0", "LAMP", 0x4001)],
    );
    let other = adb(
        r#"
<node name="lamp_reg_ext" size="0x4.0" descr="">
    <field name="lit" offset="0x0.31" size="0x0.1" descr="" />
</node>"#,
        &[("lamp_reg_ext", "0x4.0", "ROOF", 0x4005)],
    );
    gives(
        &[("kernel", kernel), ("tool", tool), ("base", &base), ("other", &other)],
        "",
        "
        door_reg: struct of 0x04 bytes (kernel)
          open 0x00 31:0
        lamp_reg: struct of 0x04 bytes (base other)
          lit 0x00 31:31
        enum mlx5_reg (kernel)
          MLX5_REG_LAMP 16385
          MLX5_REG_DOOR 16387
          MLX5_REG_REG_DOOR 16388
        enum mlx5_reg_lamp_old (tool)
          MLX5_REG_LAMP_OLD 1
        enum mlx5_register_id (tool)
          MLX5_REGISTER_ID_LAMP 16393
          MLX5_REGISTER_ID_WALL 16387
        0x0001 LAMP_OLD - (tool)
        0x4001 LAMP lamp_reg (kernel base)
        0x4003 DOOR door_reg (kernel tool)
        0x4004 REG_DOOR - (kernel)
        0x4005 ROOF - (other)
        ! register 0x4001: id 0x4001 | id 0x4009 (tool) another number
        ! register 0x4003: DOOR | WALL (tool) renamed
        ! register 0x4005: no layout | layout lamp_reg (other) retyped
        ",
    );
}

#[test]
fn a_database_says_who_reads_and_writes() {
    // The field called otherwise learns it, too; the one of other bits does not, nor a union.
    let kernel = "
        struct mlx5_ifc_lamp_reg_bits { u8 on[1]; u8 rsvd[23]; u8 color[8]; u8 rsvd_2[4]; u8 slot[12]; u8 rsvd_3[16]; };";
    gives(
        &[("kernel", kernel), ("base", &database())],
        "",
        "
        lamp_reg: struct of 0x08 bytes (kernel base)
          on 0x00 31:31 RW off=0 on=1 (kernel)
          color 0x00 7:0 RO
          slot 0x04 27:16 (kernel)
        wall_reg: struct of 0x04 bytes (base)
          bricks 0x00 31:0 OP
        0x4001 LAMP lamp_reg (base)
        0x4002 wall wall_reg (base)
        ! lamp_reg.lit: on 0x00 31:31 | 0x00 31:31 (base) renamed
        ! lamp_reg.slot: 0x04 27:16 | 0x04 23:16 (base) widened
        ",
    );
}

#[test]
fn a_database_knows_a_field_by_its_bits() {
    // By its name where several have them; the only one, however it is cut; the only one that is cut
    // alike. Where two are, none.
    let kernel = "
        struct mlx5_ifc_lamp_reg_bits {
            union { u8 volts[32]; u8 amperes[32]; };
            u8 steps[2][16];
            union { u8 whole[32]; u8 halves[2][16]; };
            union { u8 red[32]; u8 green[32]; };
            union { u8 one[32]; u8 ones[1][32]; };
            u8 on[32];
        };";
    let base = adb(
        r#"
<node name="lamp_reg_ext" size="0x18.0" descr="">
    <field name="amperes" offset="0x0.0" size="0x4.0" access="RO" descr="" />
    <field name="all_steps" offset="0x4.0" size="0x4.0" access="WO" descr="" />
    <field name="both" offset="0x8.0" size="0x4.0" access="OP" descr="" />
    <field name="color" offset="0xc.0" size="0x4.0" access="RW" descr="" />
    <field name="only" offset="0x10.0" size="0x4.0" access="RW" descr="" />
    <field name="on" offset="0x14.0" size="0x4.0" enum="off=0x0,on=0x1" descr="" />
</node>"#,
        &[("lamp_reg_ext", "0x18.0", "LAMP", 0x4001)],
    );
    gives(
        &[("kernel", kernel), ("base", &base)],
        "",
        "
        lamp_reg: struct of 0x18 bytes (kernel base)
          volts 0x00 31:0 (kernel)
          amperes 0x00 31:0 RO over volts
          steps 0x04 31:16 [2] WO (kernel)
          whole 0x08 31:0 OP (kernel)
          halves 0x08 31:16 [2] over whole (kernel)
          red 0x0c 31:0 (kernel)
          green 0x0c 31:0 over red (kernel)
          one 0x10 31:0 RW (kernel)
          ones 0x10 31:0 [1] over one (kernel)
          on 0x14 31:0 off=0 on=1
        0x4001 LAMP lamp_reg (base)
        ! lamp_reg.all_steps: steps 0x04 31:16 [2] | 0x04 31:0 (base) renamed
        ! lamp_reg.both: whole 0x08 31:0, halves 0x08 31:16 [2] | 0x08 31:0 (base) split
        ! lamp_reg.color: red 0x0c 31:0, green 0x0c 31:0 | 0x0c 31:0 (base) split
        ! lamp_reg.only: one 0x10 31:0, ones 0x10 31:0 [1] | 0x10 31:0 (base) split
        ",
    );
}

#[test]
fn a_union_that_is_added_is_selected_by_what_the_layout_calls_it() {
    let kernel = "struct mlx5_ifc_lamp_reg_bits { u8 group[8]; u8 rsvd[56]; };";
    let base = adb(
        r#"
<node name="part_ext" size="0x4.0" attr_is_union="1" descr="">
    <field name="bulb" offset="0x0.0" size="0x4.0" selected_by="BULB" descr="" />
</node>
<node name="lamp_reg_ext" size="0x8.0" descr="">
    <field name="grp" offset="0x0.24" size="0x0.8" enum="BULB=0x0" descr="" />
    <field name="part" offset="0x4.0" size="0x4.0" subnode="part_ext" union_selector="$(parent).grp" descr="" />
</node>"#,
        &[("lamp_reg_ext", "0x8.0", "LAMP", 0x4001)],
    );
    gives(
        &[("kernel", kernel), ("base", &base)],
        "",
        "
        lamp_reg: struct of 0x08 bytes (kernel base)
          group 0x00 31:24 BULB=0 (kernel)
          part 0x04 part by group (base)
        part: union of 0x04 bytes (base)
          bulb 0x00 31:0 when BULB
        0x4001 LAMP lamp_reg (base)
        ! lamp_reg.grp: group 0x00 31:24 | 0x00 31:24 (base) renamed
        ",
    );
}

#[test]
fn two_layouts_may_each_have_a_second_name() {
    let kernel = "
        struct mlx5_ifc_lamp_color_bits { u8 red[8]; u8 green[24]; };
        struct mlx5_ifc_wall_side_bits { u8 north[8]; u8 south[24]; };";
    let tool = "
        struct mlx5_ifc_color_lamp_bits { u8 red[8]; u8 green[24]; };
        struct mlx5_ifc_side_wall_bits { u8 north[8]; u8 south[24]; };";
    gives(
        &[("kernel", kernel), ("tool", tool), ("lib", tool)],
        "",
        "
        lamp_color: struct of 0x04 bytes (kernel tool lib)
          red 0x00 31:24
          green 0x00 23:0
        wall_side: struct of 0x04 bytes (kernel tool lib)
          north 0x00 31:24
          south 0x00 23:0
        color_lamp is lamp_color (tool lib)
        side_wall is wall_side (tool lib)
        ",
    );
    // And one layout several.
    gives(
        &[
            ("kernel", "struct mlx5_ifc_lamp_color_bits { u8 red[32]; };"),
            ("tool", "struct mlx5_ifc_color_lamp_bits { u8 red[32]; };"),
            ("lib", "struct mlx5_ifc_lamp_color_reg_bits { u8 red[32]; };"),
        ],
        "",
        "
        lamp_color: struct of 0x04 bytes (kernel tool lib)
          red 0x00 31:0
        color_lamp is lamp_color (tool)
        lamp_color_reg is lamp_color (lib)
        ",
    );
}

#[test]
fn a_field_is_joined_only_where_one_holds_all_of_it() {
    let kernel = "struct mlx5_ifc_lamp_bits { u8 rsvd[8]; u8 color[16]; u8 rsvd_2[8]; };";
    let tool = "struct mlx5_ifc_lamp_bits { u8 rsvd[4]; u8 before[8]; u8 inside[8]; u8 behind[8]; u8 rsvd_2[4]; };";
    gives(
        &[("kernel", kernel), ("tool", tool)],
        "",
        "
        lamp: struct of 0x04 bytes (kernel tool)
          color 0x00 23:8 (kernel)
        ! lamp.before: color 0x00 23:8 | 0x00 27:20 (tool) split
        ! lamp.inside: color 0x00 23:8 | 0x00 19:12 (tool) joined
        ! lamp.behind: color 0x00 23:8 | 0x00 11:4 (tool) split
        ",
    );
}

#[test]
fn a_database_says_nothing_of_what_is_another_thing() {
    // A layout has no values, and a member of a union is not another one of as many bits.
    let kernel = "
        struct mlx5_ifc_bulb_bits { u8 volt[32]; };
        union mlx5_ifc_part_bits { u8 raw[32]; u8 small[16]; };
        struct mlx5_ifc_lamp_reg_bits { struct mlx5_ifc_bulb_bits bulb; };";
    let base = adb(
        r#"
<node name="part_ext" size="0x4.0" attr_is_union="1" descr="">
    <field name="small" offset="0x0.0" size="0x4.0" access="RO" descr="" />
</node>
<node name="lamp_reg_ext" size="0x4.0" descr="">
    <field name="state" offset="0x0.0" size="0x4.0" access="RW" enum="off=0x0,on=0x1" descr="" />
</node>"#,
        &[("lamp_reg_ext", "0x4.0", "LAMP", 0x4001)],
    );
    gives(
        &[("kernel", kernel), ("base", &base)],
        "",
        "
        bulb: struct of 0x04 bytes (kernel)
          volt 0x00 31:0
        part: union of 0x04 bytes (kernel base)
          raw 0x00 31:0 (kernel)
          small 0x00 31:16 (kernel)
        lamp_reg: struct of 0x04 bytes (kernel base)
          bulb 0x00 bulb RW (kernel)
        0x4001 LAMP lamp_reg (base)
        ! part.small: 0x00 31:16 | 0x00 31:0 (base) narrowed
        ! lamp_reg.state: bulb 0x00 bulb | 0x00 31:0 (base) renamed
        ",
    );
}

#[test]
fn a_database_says_which_member_counts() {
    let kernel = "
        struct mlx5_ifc_bulb_bits { u8 volt[32]; };
        union mlx5_ifc_lamp_part_bits { struct mlx5_ifc_bulb_bits bulb; u8 cable[32]; };
        struct mlx5_ifc_lamp_reg_bits {
            u8 group[8]; u8 rsvd[24]; union mlx5_ifc_lamp_part_bits part; struct mlx5_ifc_bulb_bits bulb;
        };";
    // What selects is called otherwise, the union is of another type, and what the kernel has no
    // union for is not selected.
    let base = adb(
        r#"
<node name="bulb_ext" size="0x4.0" descr="">
    <field name="volt" offset="0x0.0" size="0x4.0" access="RW" descr="" />
</node>
<node name="part_auto_ext" size="0x4.0" attr_is_union="1" descr="">
    <field name="bulb" offset="0x0.0" size="0x4.0" subnode="bulb_ext" selected_by="BULB" descr="" />
</node>
<node name="lamp_reg_ext" size="0xc.0" descr="">
    <field name="grp" offset="0x0.24" size="0x0.8" access="INDEX" enum="BULB=0x0,CABLE=0x1" descr="" />
    <field name="part" offset="0x4.0" size="0x4.0" subnode="part_auto_ext" access="RW" union_selector="$(parent).grp" descr="" />
    <field name="bulb" offset="0x8.0" size="0x4.0" subnode="part_auto_ext" union_selector="$(parent).grp" condition="$(parent).grp" descr="" />
</node>"#,
        &[("lamp_reg_ext", "0xc.0", "LAMP", 0x4001)],
    );
    gives(
        &[("kernel", kernel), ("base", &base)],
        "",
        "
        bulb: struct of 0x04 bytes (kernel base)
          volt 0x00 31:0 RW
        lamp_part: union of 0x04 bytes (kernel)
          bulb 0x00 bulb
          cable 0x00 31:0
        lamp_reg: struct of 0x0c bytes (kernel base)
          group 0x00 31:24 INDEX BULB=0 CABLE=1 (kernel)
          part 0x04 lamp_part RW by group (kernel)
          bulb 0x08 bulb when grp (kernel)
        part_auto: union of 0x04 bytes (base)
          bulb 0x00 bulb when BULB
        0x4001 LAMP lamp_reg (base)
        ! lamp_reg.grp: group 0x00 31:24 | 0x00 31:24 (base) renamed
        ! lamp_reg.part: 0x04 lamp_part | 0x04 part_auto (base) retyped
        ! lamp_reg.bulb: 0x08 bulb | 0x08 part_auto (base) retyped
        ",
    );
}

#[test]
fn what_two_databases_know_otherwise_is_told() {
    let other = adb(
        r#"
<node name="lamp_reg_ext" size="0x8.0" descr="">
    <field name="lit" offset="0x0.31" size="0x0.1" access="RO" enum="off=0x0,bright=0x1" descr="" />
    <field name="color" offset="0x0.0" size="0x0.8" access="RO" enum="red=0x1" condition="$(parent).lit" descr="" />
    <field name="slot" offset="0x4.16" size="0x0.8" access="INDEX" descr="" />
</node>"#,
        &[("lamp_reg_ext", "0x8.0", "LAMP", 0x4001)],
    );
    gives(
        &[("base", &database()), ("other", &other)],
        "",
        "
        lamp_reg: struct of 0x08 bytes (base other)
          lit 0x00 31:31 RW off=0 on=1
          color 0x00 7:0 RO when lit red=1
          slot 0x04 23:16 INDEX
        wall_reg: struct of 0x04 bytes (base)
          bricks 0x00 31:0 OP
        0x4001 LAMP lamp_reg (base other)
        0x4002 wall wall_reg (base)
        ! lamp_reg.lit: access RW | access RO (other) another meaning
        ! lamp_reg.lit: off = 0x0, on = 0x1 | off = 0x0, bright = 0x1 (other) another meaning
        ",
    );
}

#[test]
fn a_register_is_as_long_as_a_database_says() {
    // Who is shorter is told so; who said the longer length already is not. What was past the end
    // before has a place now. A union that has room does not mind.
    let kernel = "
        struct mlx5_ifc_lamp_reg_bits { u8 rsvd[24]; u8 color[8]; };
        union mlx5_ifc_any_bits { struct mlx5_ifc_lamp_reg_bits lamp_reg; u8 rsvd[64]; };
        struct mlx5_ifc_wall_reg_bits { u8 bricks[16]; u8 rsvd[16]; };";
    let tool = "struct mlx5_ifc_lamp_reg_bits { u8 rsvd[24]; u8 color[8]; u8 rsvd_2[8]; u8 slot[8]; u8 late[16]; };";
    let lib =
        "struct mlx5_ifc_lamp_reg_bits { u8 rsvd[24]; u8 color[8]; u8 rsvd_2[32]; u8 later[32]; };";
    gives(
        &[("kernel", kernel), ("tool", tool), ("lib", lib), ("base", &database())],
        "",
        "
        lamp_reg: struct of 0x08 bytes (kernel tool lib base)
          lit 0x00 31:31 RW off=0 on=1 (base)
          color 0x00 7:0 RO
          slot 0x04 23:16 INDEX (tool base)
          late 0x04 15:0 (tool)
        any: union of 0x08 bytes (kernel)
          lamp_reg 0x00 lamp_reg
        wall_reg: struct of 0x04 bytes (kernel base)
          bricks 0x00 31:16 (kernel)
        0x4001 LAMP lamp_reg (base)
        0x4002 wall wall_reg (base)
        ! lamp_reg: struct of 0x08 bytes | struct of 0x0c bytes (lib) shorter
        ! lamp_reg: struct of 0x08 bytes | struct of 0x04 bytes (kernel) lengthened
        ! lamp_reg.later: 0x08 bytes | 0x08 31:0 (lib) past the end
        ! wall_reg.bricks: 0x00 31:16 | 0x00 31:0 (base) narrowed
        ",
    );
}

#[test]
fn a_register_that_others_have_a_place_for_stays_as_long_as_it_is() {
    let lamp = "struct mlx5_ifc_lamp_reg_bits { u8 rsvd[24]; u8 color[8]; };";
    let holders = [
        "struct mlx5_ifc_room_bits { struct mlx5_ifc_lamp_reg_bits lamp; u8 rsvd[32]; };",
        "union mlx5_ifc_room_bits { struct mlx5_ifc_lamp_reg_bits lamp; u8 rsvd[32]; };",
        "union mlx5_ifc_room_bits { struct mlx5_ifc_lamp_reg_bits lamp[2]; u8 rsvd[96]; };",
    ];
    let fields = [
        ("struct of 0x08 bytes", "lamp 0x00 lamp_reg"),
        ("union of 0x04 bytes", "lamp 0x00 lamp_reg"),
        ("union of 0x0c bytes", "lamp 0x00 lamp_reg [2]"),
    ];
    for (holder, (extent, field)) in holders.iter().zip(fields) {
        gives(
            &[("kernel", &format!("{lamp}{holder}")), ("base", &database())],
            "",
            &format!(
                "
        lamp_reg: struct of 0x04 bytes (kernel base)
          lit 0x00 31:31 RW off=0 on=1 (base)
          color 0x00 7:0 RO
        room: {extent} (kernel)
          {field}
        wall_reg: struct of 0x04 bytes (base)
          bricks 0x00 31:0 OP
        0x4001 LAMP lamp_reg (base)
        0x4002 wall wall_reg (base)
        ! lamp_reg: struct of 0x04 bytes | struct of 0x08 bytes (base) shorter
        ! lamp_reg.slot: 0x04 bytes | 0x04 23:16 (base) past the end
        "
            ),
        );
    }
    // Nor is one lengthened that goes on as a list, nor by a header, nor by a union.
    gives(
        &[
            (
                "kernel",
                "struct mlx5_ifc_lamp_reg_bits { u8 rsvd[24]; u8 color[8]; u8 list[][32]; };",
            ),
            ("base", &database()),
        ],
        "",
        "
        lamp_reg: struct of 0x04 bytes (kernel base)
          lit 0x00 31:31 RW off=0 on=1 (base)
          color 0x00 7:0 RO
          list 0x04 31:0 [] (kernel)
        wall_reg: struct of 0x04 bytes (base)
          bricks 0x00 31:0 OP
        0x4001 LAMP lamp_reg (base)
        0x4002 wall wall_reg (base)
        ! lamp_reg: struct of 0x04 bytes | struct of 0x08 bytes (base) shorter
        ! lamp_reg.slot: 0x04 bytes | 0x04 23:16 (base) past the end
        ",
    );
}

#[test]
fn a_register_in_a_register_is_lengthened_with_it() {
    let kernel = "
        struct mlx5_ifc_lamp_reg_bits { u8 on[32]; };
        union mlx5_ifc_any_reg_bits { struct mlx5_ifc_lamp_reg_bits lamp_reg; };";
    let base = adb(
        r#"
<node name="lamp_reg_ext" size="0x8.0" descr="">
    <field name="on" offset="0x0.0" size="0x4.0" descr="" />
</node>
<node name="any_reg_ext" size="0x8.0" attr_is_union="1" descr="">
    <field name="lamp_reg_ext" offset="0x0.0" size="0x8.0" subnode="lamp_reg_ext" descr="" />
</node>"#,
        &[("lamp_reg_ext", "0x8.0", "LAMP", 0x4001), ("any_reg_ext", "0x8.0", "ANY", 0x4002)],
    );
    gives(
        &[("kernel", kernel), ("base", &base)],
        "",
        "
        lamp_reg: struct of 0x08 bytes (kernel base)
          on 0x00 31:0
        any_reg: union of 0x08 bytes (kernel base)
          lamp_reg 0x00 lamp_reg
        0x4001 LAMP lamp_reg (base)
        0x4002 ANY any_reg (base)
        ! any_reg: union of 0x08 bytes | union of 0x04 bytes (kernel) lengthened
        ! lamp_reg: struct of 0x08 bytes | struct of 0x04 bytes (kernel) lengthened
        ",
    );
}

#[test]
fn what_held_a_longer_register_joins_when_it_is_lengthened() {
    // The lib, of lower rank than the tool, has a place for the shorter one in a union.
    let kernel = "struct mlx5_ifc_lamp_reg_bits { u8 rsvd[24]; u8 color[8]; };";
    let tool = "
        struct mlx5_ifc_lamp_reg_bits { u8 rsvd[24]; u8 color[8]; u8 rsvd_2[32]; };
        struct mlx5_ifc_room_bits { u8 rsvd[32]; struct mlx5_ifc_lamp_reg_bits lamp; };
        union mlx5_ifc_any_bits { struct mlx5_ifc_lamp_reg_bits lamp; };";
    let lib = "
        struct mlx5_ifc_lamp_reg_bits { u8 rsvd[24]; u8 color[8]; };
        union mlx5_ifc_any_bits { struct mlx5_ifc_lamp_reg_bits lamp; u8 rsvd[64]; };";
    gives(
        &[("kernel", kernel), ("tool", tool), ("lib", lib), ("base", &database())],
        "",
        "
        lamp_reg: struct of 0x08 bytes (kernel tool lib base)
          lit 0x00 31:31 RW off=0 on=1 (base)
          color 0x00 7:0 RO
          slot 0x04 23:16 INDEX (base)
        room: struct of 0x0c bytes (tool)
          lamp 0x04 lamp_reg
        any: union of 0x08 bytes (tool lib)
          lamp 0x00 lamp_reg
        wall_reg: struct of 0x04 bytes (base)
          bricks 0x00 31:0 OP
        0x4001 LAMP lamp_reg (base)
        0x4002 wall wall_reg (base)
        ! lamp_reg: struct of 0x08 bytes | struct of 0x04 bytes (kernel lib) lengthened
        ",
    );
}

#[test]
fn what_was_refused_before_joins_when_it_fits() {
    // Of the lib's union the first arm has no place beside the kernel's field, nor has the second;
    // the tool's union has the kernel's field.
    let kernel = "struct mlx5_ifc_lamp_bits { u8 on[8]; u8 heat[8]; u8 rsvd[16]; };";
    let tool = "struct mlx5_ifc_lamp_bits { u8 both[16]; u8 rsvd[16]; };";
    let lib = "struct mlx5_ifc_lamp_bits { union { struct { u8 on[8]; u8 heat[8]; }; u8 both[16]; }; u8 rsvd[16]; };";
    gives(
        &[("kernel", kernel), ("tool", tool), ("lib", lib)],
        "",
        "
        lamp: struct of 0x04 bytes (kernel tool lib)
          on 0x00 31:24 (kernel lib)
          both 0x00 31:16 over on (tool lib)
          heat 0x00 23:16 over on (kernel lib)
        ",
    );
}

#[test]
fn a_layout_at_fault_is_a_conflict() {
    let kernel = "struct mlx5_ifc_lamp_bits { u8 on[32]; };";
    let tool = "
        struct mlx5_ifc_lamp_bits { u8 on[31]; };
        struct mlx5_ifc_wall_bits { u8 *brick; };
        struct mlx5_ifc_room_bits { struct mlx5_ifc_lamp_bits lamp; };";
    gives(
        &[("kernel", kernel), ("tool", tool)],
        "",
        "
        lamp: struct of 0x04 bytes (kernel)
          on 0x00 31:0
        ! lamp: struct of 0x04 bytes | lamp is 31 bits long, which is no whole number of bytes (tool) mistake upstream
        ! wall: nothing | \"*\" where the name of a field belongs (tool) mistake upstream
        ! room: nothing | lamp is not complete here (tool) mistake upstream
        ",
    );
}

#[test]
fn a_layout_that_no_family_takes_is_refused() {
    let mut families = families();
    families[0].takes = vec!["lamp*".into()];
    let told = told(&[(
        "kernel",
        "struct mlx5_ifc_lamp_bits { u8 on[32]; };\nstruct mlx5_ifc_wall_bits { u8 b[32]; };",
    )]);
    let faults = merge(told, Rulings::default(), families).unwrap_err();
    assert_eq!(faults.to_string(), "kernel.h:2: no family takes the layout wall\n");
}
