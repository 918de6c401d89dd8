//! What the backend `ioctl` has beyond `Transport`, against the same calls of libmlx5.

use std::collections::HashMap;

use super::*;

/// The calls that are compared, by the names of both children.
const COMPARED: &[&str] = &[
    "alloc_uar, NC",
    "obj_create",
    "create_cmd_comp",
    "obj_query_async",
    "obj_query_async, an input of 65536 bytes",
    "get_async_cmd_comp",
    "get_async_cmd_comp, none there",
    "create_event_channel",
    "create_event_channel, without data",
    "subscribe_devx_event",
    "subscribe_devx_event, 4 types",
    "subscribe_devx_event_fd",
    "subscribe_devx_event, no object",
    "subscribe_devx_event, without data",
    "get_event",
    "get_event, none there",
    "get_event, without data",
    "obj_destroy",
    "query_eqn",
    "umem_reg",
    "umem_reg_ex",
    "umem_reg_ex, dmabuf",
    "umem_dereg",
    "alloc_uar, BF",
    "free_uar, BF",
    "free_uar, NC",
];

/// Calls of `caught-child` that the backend does not have, and why.
const LACKING: &[(&str, &str)] = &[(
    "close_device",
    "dropping Ioctl closes the file; the UARs that end here are compared above",
)];

/// Functions of libmlx5 that neither child calls, and why.
const NOT_CALLED: &[(&str, &str)] = &[
    ("alloc_msi_vector", "of a vfio context alone: no ioctl of uverbs"),
    ("free_msi_vector", "as before"),
    ("create_eq", "as before"),
    ("destroy_eq", "as before"),
    ("obj_export", "no ioctl: see exports_give_the_same_over_every_way in sim.rs"),
    ("obj_import", "as before"),
    ("obj_unimport", "as before"),
    ("umem_export", "as before"),
    ("umem_import", "as before"),
    ("umem_unimport", "as before"),
    ("uar_export_dmabuf_fd", "the backends do not have it"),
];

/// What libmlx5 sends to open a device and the backend does not, and why.
const NOT_OPENING: &[(&str, &str)] = &[
    ("DEVICE.INVOKE_WRITE", "asks for the older commands, which the backend never sends"),
    (
        "DEVX.OTHER",
        "QUERY_HCA_CAP for libmlx5 itself; a caller of the backend asks for what it needs",
    ),
    ("DEVICE.INVOKE_WRITE", "QUERY_DEVICE for verbs, which the backend is none of"),
    ("DEVICE.QUERY_PORT", "as before"),
    ("UAR.ALLOC", "doorbells for the queues of verbs; compared with Uar::alloc"),
    ("ASYNC_EVENT.ALLOC", "ibv_get_async_event"),
];

/// Writes what was sent, a line for each attribute, with what descriptors and addresses are in place of
/// their numbers.
struct Names<'r> {
    values: &'r [(String, u64)],
    /// Descriptors that the kernel gave, and the calls that made them.
    descriptors: HashMap<String, String>,
}

impl<'r> Names<'r> {
    fn of(run: &'r Run) -> Self {
        Names { values: &run.values, descriptors: HashMap::new() }
    }

    fn content(&mut self, call: &str, errno: i32, a: &Attr) -> String {
        let value = self.values.iter().find(|v| v.0 == call).map(|v| v.1);
        match (&a.kind[..], &a.name[..], value) {
            // A file that was closed leaves its number to the next.
            ("new-fd", ..) if errno == 0 => {
                self.descriptors.insert(a.content.clone(), call.to_owned());
                "the new descriptor".to_owned()
            }
            ("fd", "DMABUF_FD", Some(fd)) if a.content == fd.to_string() => {
                "the dma-buf's descriptor".to_owned()
            }
            ("fd", name, _) if name != "DMABUF_FD" => match self.descriptors.get(&a.content) {
                Some(call) => format!("the descriptor of {call}"),
                None => format!("an unknown descriptor {}", a.content),
            },
            ("in", "ADDR", Some(address)) if a.content == hex(&address.to_ne_bytes()) => {
                "the address of the memory".to_owned()
            }
            ("in", "FD_NUM", Some(fd)) if a.content == hex(&(fd as u32).to_ne_bytes()) => {
                "the eventfd's descriptor".to_owned()
            }
            _ => a.content.clone(),
        }
    }

    fn lines(&mut self, call: &str, ioctl: &Ioctl) -> Vec<String> {
        let mut attrs: Vec<(usize, &Attr)> = ioctl.attrs.iter().enumerate().collect();
        attrs.sort_by_key(|(_, a)| a.id);
        let mut line = |(at, a): (usize, &Attr)| {
            let content = self.content(call, ioctl.errno, a);
            // The 8 bytes as they were sent: what stands there for the kernel to write over, and
            // what is behind a shorter value.
            let data = &ioctl.raw[2 * (24 + 16 * at + 8)..][..16];
            let rest = match &a.kind[..] {
                "new-handle" | "new-fd" => data,
                "in" | "const" if a.len < 8 => &data[2 * usize::from(a.len)..],
                _ => "",
            };
            let Attr { name, id, kind, flags, flags_after, len, .. } = a;
            format!(
                "{} {} errno {}: {name} {id:#x} {kind} flags {flags:#x} {flags_after:#x} \
                 len {len} {content} {rest}",
                ioctl.method, ioctl.ids, ioctl.errno
            )
        };
        attrs.into_iter().map(&mut line).collect()
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}"))
}

/// A call, as it is compared.
#[derive(Debug, PartialEq, Eq)]
struct Told {
    name: String,
    attrs: Vec<String>,
    /// The errno, and what was given; `None` if libmlx5 does not tell.
    end: Option<(i32, String)>,
}

fn end(call: &Call) -> Option<(i32, String)> {
    let length = call.name.starts_with("get_event") && ["72", "8"].contains(&&call.result[..]);
    Some((if length { 0 } else { errno(call) }, call.output.clone()))
}

fn told(run: &Run) -> Vec<Told> {
    let mut names = Names::of(run);
    let tell = |call: &Call| Told {
        name: call.name.clone(),
        attrs: call.ioctls.iter().flat_map(|i| names.lines(&call.name, i)).collect(),
        end: end(call),
    };
    run.calls.iter().map(tell).collect()
}

/// The calls of libmlx5 under the names of ours: the UAR that it allots when it opens a context, and
/// those that it gives back when it closes it, are calls of their own here.
fn told_by_libmlx5(run: &Run) -> Vec<Told> {
    let mut all = told(run);
    let mut names = Names::of(run);
    let opening = run.open.iter().find(|i| i.method == "UAR.ALLOC").expect("one at opening");
    let uar = opening.attr("HANDLE").content.clone();
    for call in all.iter_mut().filter(|call| call.name == "alloc_uar, NC") {
        assert!(call.attrs.is_empty(), "it is there already: {call:?}");
        call.attrs = names.lines("", opening);
    }
    for ioctl in &run.call("close_device").ioctls {
        let name =
            if ioctl.attr("HANDLE").content == uar { "free_uar, NC" } else { "free_uar, BF" };
        all.retain(|call| call.name != name);
        // The function gives nothing, and closing the device goes on in any case.
        all.push(Told { name: name.to_owned(), attrs: names.lines("", ioctl), end: None });
    }
    all.retain(|call| COMPARED.contains(&&call.name[..]));
    all
}

/// How many of the attributes, or of the errno and the output, are not the same.
fn differences(theirs: &Told, ours: &Told) -> usize {
    let not_in = |a: &[String], b: &[String]| a.iter().filter(|line| !b.contains(line)).count();
    let attrs = not_in(&theirs.attrs, &ours.attrs).max(not_in(&ours.attrs, &theirs.attrs));
    let more = theirs.attrs.len().abs_diff(ours.attrs.len());
    let ends = theirs.end.is_some() && theirs.end != ours.end;
    attrs.max(more) + usize::from(ends)
}

const PROGRAM: &str = env!("CARGO_BIN_EXE_caught-backend");
const RAW: (&str, &str) = ("MLX5_CAUGHT_RAW", "1");

/// Each call of the backend sends what libmlx5 sends, and makes the same of the answers.
#[test]
fn ioctl_is_as_libmlx5_beyond_the_trait() {
    // What is made cannot be used, or not be made, or not be ended. The UAR that libmlx5 allots for
    // itself is allotted, or the device does not open.
    let unused = "always DEVX_OBJ.ASYNC_QUERY * 11\nalways DEVX.SUBSCRIBE_EVENT * 95\n\
                  always DEVX.QUERY_EQN * 22\nalways DEVX_UMEM.REG * 12\n\
                  once UAR.ALLOC * ok\nalways UAR.ALLOC * 95\n";
    let unmade = "always DEVX_ASYNC_CMD_FD.ALLOC * 24\nalways DEVX_ASYNC_EVENT_FD.ALLOC * 23\n\
                  always DEVX_UMEM.DEREG * 16\nalways UAR.DESTROY * 16\n\
                  always DEVX_OBJ.DESTROY * 16\n";
    let no_object = "always DEVX_OBJ.CREATE * 121 080000000badcafe\n";
    let (mut calls, mut compared, mut different) = (0, 0, 0);
    let mut refused = Vec::new();
    for (heading, answers) in [
        ("all granted", ""),
        ("refused: what uses", unused),
        ("refused: channels, and what ends", unmade),
        ("refused: the object", no_object),
    ] {
        let Some(theirs) = run(answers, &[], &[]) else { return };
        let ours = run_program(PROGRAM, answers, &[RAW], &["ioctl-alone"]).expect("a run");
        let (theirs, ours) = (told_by_libmlx5(&theirs), told(&ours));
        println!("{heading:<38} attributes compared, differences");
        for call in &ours {
            let name = &call.name;
            let of_libmlx5 = theirs.iter().find(|c| c.name == *name);
            let of_libmlx5 = of_libmlx5.unwrap_or_else(|| panic!("libmlx5 made no {name}"));
            let differ = differences(of_libmlx5, call);
            let errno = match call.end {
                Some((errno, _)) if errno != 0 => format!("  errno {errno}"),
                _ => String::new(),
            };
            println!("  {name:<42} {:>13}, {differ:>11}{errno}", call.attrs.len());
            if differ > 0 {
                println!("    libmlx5: {of_libmlx5:#?}\n    ours: {call:#?}");
            }
            if !errno.is_empty() {
                refused.push(name.clone());
            }
            (calls, compared, different) =
                (calls + 1, compared + call.attrs.len(), different + differ);
        }
        let made = |told: &[Told]| {
            let mut names: Vec<String> = told.iter().map(|c| c.name.clone()).collect();
            names.sort();
            names
        };
        assert_eq!(made(&ours), made(&theirs), "{heading}: both make the same calls");
        if answers.is_empty() {
            assert_eq!(ours.len(), COMPARED.len());
        }
    }
    println!("{calls} calls and {compared} attributes compared, {different} differences");
    assert_eq!(different, 0);
    // Each call was refused once. With no UAR of its own libmlx5 opens no device; reads are refused
    // when there is nothing.
    let unrefused = ["alloc_uar, NC", "get_async_cmd_comp", "get_event", "get_event, without data"];
    for name in COMPARED.iter().filter(|name| !unrefused.contains(name)) {
        assert!(refused.iter().any(|r| r == name), "{name} was never refused");
    }
}

/// The backend `libmlx5` makes the calls of libmlx5 that it says.
#[test]
fn libmlx5_is_as_libmlx5_beyond_the_trait() {
    let Some(theirs) = run("", &[], &[]) else { return };
    let ours = run_program(PROGRAM, "", &[], &["libmlx5-alone"]).expect("a run");
    let (theirs, ours) = (told(&theirs), told(&ours));
    let (mut calls, mut compared) = (0, 0);
    println!("{:<38} attributes compared, differences", "libmlx5");
    for call in &ours {
        let of_libmlx5 = theirs.iter().find(|c| c.name == call.name);
        let of_libmlx5 = of_libmlx5.unwrap_or_else(|| panic!("libmlx5 made no {}", call.name));
        assert_eq!(call, of_libmlx5);
        println!("  {:<42} {:>13}, {:>11}", call.name, call.attrs.len(), 0);
        (calls, compared) = (calls + 1, compared + call.attrs.len());
    }
    println!("{calls} calls and {compared} attributes compared, 0 differences");
    // All but the page that libmlx5 itself keeps.
    let made: Vec<&str> = ours.iter().map(|call| &call.name[..]).collect();
    for name in COMPARED.iter().filter(|name| **name != "free_uar, NC") {
        assert!(made.contains(name), "{name}");
    }
}

fn opening_lines(run: &Run, ioctl: &Ioctl) -> Vec<String> {
    Names::of(run).lines("open_device", ioctl)
}

/// What the context is made with, against libmlx5.
#[test]
fn ioctl_opens_as_libmlx5() {
    let Some(theirs) = run("", &[], &["query_eqn"]) else { return };
    let ours = run_program(PROGRAM, "", &[RAW], &["ioctl-alone"]).expect("a run");
    let [made] = &ours.open[..] else { panic!("one ioctl, not {:?}", ours.open) };
    let of_libmlx5 = theirs.open.iter().find(|i| i.method == "DEVICE.GET_CONTEXT").unwrap();
    let (expected, sent) = (opening_lines(&theirs, of_libmlx5), opening_lines(&ours, made));
    println!("{:<38} attributes compared, differences", "opening");
    assert_eq!(sent, expected);
    println!("  {:<36} {:>19}, {:>11}", made.method, sent.len(), 0);

    println!("libmlx5 sends these besides, and the backend does not:");
    let others: Vec<&str> = theirs.open.iter().map(|i| &i.method[..]).collect();
    let others: Vec<&str> = others.into_iter().filter(|m| *m != "DEVICE.GET_CONTEXT").collect();
    let named: Vec<&str> = NOT_OPENING.iter().map(|(method, _)| *method).collect();
    assert_eq!(others, named);
    for (method, why) in NOT_OPENING {
        println!("  {method:<36} {why}");
    }
}

/// A context that the kernel refuses: the same call is refused, with the same errno. What follows
/// differs, and is meant to:
/// - libmlx5 tries again with the shorter requests of older kernels (`mlx5_cmd_get_context` in
///   rdma-core). The kernels that make contexts by ioctl at all are newer than the last field, so
///   that ours has no use for it.
/// - Ours asks for a context without DEVX, to say in its error whether DEVX is what is missing, and
///   keeps nothing of it.
#[test]
fn ioctl_is_refused_a_context_as_libmlx5() {
    for errno in [EINVAL, 1] {
        let answers = format!("always DEVICE.GET_CONTEXT * {errno}\n");
        let child = env!("CARGO_BIN_EXE_caught-child");
        let theirs = refused(child, &answers, &[], &["query_eqn"]);
        let Some((theirs, they_say)) = theirs else { return };
        let (ours, we_say) = refused(PROGRAM, &answers, &[RAW], &["ioctl-alone"]).expect("a run");
        println!("  libmlx5: {they_say}\n  ours:    {we_say}");
        let says = format!("(os error {errno})");
        assert!(they_say.contains(&says) && we_say.contains(&says));

        let [write, first, shorter @ ..] = &theirs.open[..] else { panic!("{:?}", theirs.open) };
        assert_eq!(write.method, "DEVICE.INVOKE_WRITE");
        let sent = opening_lines(&ours, &ours.open[0]);
        // What the kernel did not write is of no meaning: libmlx5 leaves there what was there.
        let meant = |lines: Vec<String>| {
            lines.into_iter().filter(|line| !line.contains(" out flags")).collect::<Vec<_>>()
        };
        let shapes = [&ours.open[0], first].map(Ioctl::shape);
        assert_eq!(shapes[0], shapes[1]);
        let (sent, expected) = (meant(sent), meant(opening_lines(&theirs, first)));
        assert_eq!(sent, expected);
        println!("  {:<36} {:>19}, {:>11}  errno {errno}", first.method, first.attrs.len(), 0);
        for (ioctl, length) in shorter.iter().zip([24, 16]) {
            let request = ioctl.attr("UHW_IN");
            assert_eq!((&ioctl.method, request.len), (&first.method, length));
            assert_eq!(request.content[..], first.attr("UHW_IN").content[..2 * length as usize]);
        }
        println!("  libmlx5 alone: {} shorter requests", shorter.len());
        assert_eq!(without_devx(&ours), 1);
        println!("  ours alone: a request without DEVX");
    }
    // The second is granted: the error says that DEVX is what is missing.
    let once = "once DEVICE.GET_CONTEXT * 22\n";
    let (ours, we_say) = refused(PROGRAM, once, &[RAW], &["ioctl-alone"]).expect("a run");
    println!("  ours, without DEVX granted: {we_say}");
    assert_eq!((without_devx(&ours), ours.open[1].errno), (1, 0));
    assert!(we_say.contains("DEVX"), "{we_say}");
}

/// A signal while a call is made: libmlx5 gives EINTR. So does ours where the call may have been
/// answered; where it can't have been, the very same message is sent again.
#[test]
fn ioctl_sends_again_after_a_signal() {
    const EINTR: i32 = 4;
    println!("after EINTR                            libmlx5, ours");
    for (method, name, again) in [
        ("DEVX_OBJ.CREATE", "obj_create", true),
        ("DEVX_OBJ.DESTROY", "obj_destroy", true),
        ("DEVX_ASYNC_CMD_FD.ALLOC", "create_cmd_comp", true),
        ("DEVX_OBJ.ASYNC_QUERY", "obj_query_async", false),
        ("DEVX_ASYNC_EVENT_FD.ALLOC", "create_event_channel", true),
        ("DEVX.SUBSCRIBE_EVENT", "subscribe_devx_event", false),
        ("DEVX.QUERY_EQN", "query_eqn", true),
        ("DEVX_UMEM.REG", "umem_reg", true),
        ("DEVX_UMEM.DEREG", "umem_dereg", true),
        ("UAR.ALLOC", "alloc_uar, BF", true),
        ("UAR.DESTROY", "free_uar, BF", true),
    ] {
        // That of the opening context comes first.
        let before = if method == "UAR.ALLOC" { "once UAR.ALLOC * ok\n" } else { "" };
        let answers = format!("{before}once {method} * {EINTR}\n");
        let Some(theirs) = run(&answers, &[], &[]) else { return };
        let ours = run_program(PROGRAM, &answers, &[RAW], &["ioctl-alone"]).expect("a run");
        if method != "UAR.DESTROY" {
            let of_libmlx5 = theirs.call(name);
            assert_eq!((of_libmlx5.ioctls.len(), errno(of_libmlx5)), (1, EINTR), "{name}");
        }
        let call = ours.call(name);
        if again {
            let [first, second] = &call.ioctls[..] else { panic!("{name}: {:?}", call.ioctls) };
            assert_eq!((first.errno, second.errno, errno(call)), (EINTR, 0, 0), "{name}");
            assert_eq!(second.raw, first.raw, "{name}");
        } else {
            assert_eq!((call.ioctls.len(), errno(call)), (1, EINTR), "{name}");
        }
        println!("  {name:<36} {:>7}, {}", "EINTR", if again { "sent again" } else { "EINTR" });
    }
}

/// How many requests followed the first, each with all that it has but the flag DEVX.
fn without_devx(run: &Run) -> usize {
    let [first, others @ ..] = &run.open[..] else { panic!("nothing was sent") };
    let request = &first.attr("UHW_IN").content;
    // The flags are at byte 8.
    assert_eq!(&request[16..24], "01000000");
    let without = format!("{}00000000{}", &request[..16], &request[24..]);
    for other in others {
        assert_eq!(other.shape(), first.shape());
        assert_eq!(other.attr("UHW_IN").content, without);
    }
    others.len()
}

/// Runs a program that opens no device, and gives what it sent, and the last line that it says.
fn refused(
    program: &str,
    answers: &str,
    environment: &[(&str, &str)],
    calls: &[&str],
) -> Option<(Run, String)> {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path();
    sysfs(root);
    fs::write(root.join("answers"), answers).unwrap();
    let child =
        caught(program, root).args(calls).envs(environment.iter().copied()).output().unwrap();
    if child.status.code() == Some(NOT_INSTALLED) {
        skipped("NOTHING WAS CAUGHT");
        return None;
    }
    assert!(!child.status.success(), "the device opened");
    let said = String::from_utf8(child.stderr).unwrap();
    let line = said.lines().find(|line| line.contains("does not open")).expect("a word of it");
    Some((parse(&fs::read_to_string(root.join("trace")).unwrap()), line.to_owned()))
}

/// Each call that libmlx5 has is compared, or is named as one that the backend does not have.
#[test]
fn calls_that_are_not_compared_are_named() {
    for (name, _) in SENT {
        let compared = TRANSPORT.contains(name) || COMPARED.contains(name);
        let lacking = LACKING.iter().any(|(lacking, _)| lacking == name);
        assert!(compared != lacking, "{name}: compared {compared}, lacking {lacking}");
    }
    println!("calls of libmlx5 that the backend does not have:");
    for (name, why) in LACKING {
        println!("  {name:<36} {why}");
    }
    println!("  {:<36} of kernels without UARs on demand: DEVX.QUERY_UAR", "alloc_uar, old kernel");

    let directory = tempfile::tempdir().unwrap();
    sysfs(directory.path());
    fs::write(directory.path().join("answers"), "").unwrap();
    let child = caught(PROGRAM, directory.path()).arg("functions").output().unwrap();
    if child.status.code() == Some(NOT_INSTALLED) {
        skipped("NO LIBRARY TO LOOK INTO");
        return;
    }
    assert!(child.status.success(), "{}", String::from_utf8_lossy(&child.stderr));
    let functions = String::from_utf8(child.stdout).unwrap();
    let functions: Vec<&str> =
        functions.lines().filter_map(|name| name.strip_prefix("mlx5dv_devx_")).collect();
    assert!(functions.len() > 30, "{functions:?}");
    println!("functions of the installed libmlx5 that are not called:");
    for function in functions {
        let is = |call: &str| call.split(',').next() == Some(function);
        let lacking = LACKING.iter().any(|(call, _)| is(call));
        if lacking || TRANSPORT.iter().chain(COMPARED).any(|call| is(call)) {
            continue;
        }
        let why = match NOT_CALLED.iter().find(|(name, _)| *name == function) {
            Some((_, why)) => why,
            None if function == "destroy_cmd_comp" => "close of the file: Queries is dropped",
            None if function == "destroy_event_channel" => "close of the file: Events is dropped",
            None => "NOT KNOWN TO THIS TEST, AND NOT COMPARED",
        };
        println!("  {function:<36} {why}");
    }
}
