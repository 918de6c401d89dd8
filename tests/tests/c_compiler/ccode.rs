//! A C library, generated from the headers, that sets and gets every field with the DEVX macros of
//! `infiniband/mlx5dv.h`.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Stdio;

use crate::headers::{CLayout, Headers, finish, gcc, scratch, write};
use crate::spec::{Count, Element, Field};

/// How many C files the library is made of; gcc compiles them at the same time.
const PARTS: usize = 2;

/// What every C file of the library begins with, after the headers: one macro for each way
/// to reach a field. `n` counts elements of 8 bytes, bytes, or nested layouts.
const MACROS: &str = r#"
#include <stddef.h>
#include <string.h>
#include <infiniband/mlx5dv.h>

static inline uint64_t load(const uint8_t *v)
{
	uint64_t be;

	memcpy(&be, v, 8);
	return be64toh(be);
}

static inline void store(uint8_t *v, uint64_t x)
{
	uint64_t be = htobe64(x);

	memcpy(v, &be, 8);
}

#define EACH for (size_t i = 0; i < n; i++)
#define ELEMENT(typ, fld) (__devx_bit_sz(typ, fld[0]) / 8)

#define SET_DWORD(typ, fld) DEVX_SET(typ, p, fld, load(v))
#define GET_DWORD(typ, fld) store(v, DEVX_GET(typ, p, fld))
#define SET_QWORD(typ, fld) DEVX_SET64(typ, p, fld, load(v))
#define GET_QWORD(typ, fld) store(v, DEVX_GET64(typ, p, fld))
#define SET_DWORDS(typ, fld) EACH DEVX_SET(typ, p, fld[i], load(v + 8 * i))
#define GET_DWORDS(typ, fld) EACH store(v + 8 * i, DEVX_GET(typ, p, fld[i]))
#define SET_QWORDS(typ, fld) EACH DEVX_SET64(typ, p, fld[i], load(v + 8 * i))
#define GET_QWORDS(typ, fld) EACH store(v + 8 * i, DEVX_GET64(typ, p, fld[i]))
#define SET_BYTES(typ, fld) memcpy(DEVX_ADDR_OF(typ, p, fld), v, n)
#define GET_BYTES(typ, fld) memcpy(v, DEVX_ADDR_OF(typ, p, fld), n)
#define SET_BLOCKS(typ, fld) \
	EACH memcpy(DEVX_ADDR_OF(typ, p, fld[i]), v + i * ELEMENT(typ, fld), ELEMENT(typ, fld))
#define GET_BLOCKS(typ, fld) \
	EACH memcpy(v + i * ELEMENT(typ, fld), DEVX_ADDR_OF(typ, p, fld[i]), ELEMENT(typ, fld))
"#;

/// The C function that writes a field: its number, the mailbox, the value, how many elements.
type SetFn = unsafe extern "C" fn(u32, *mut u64, *const u8, usize);
/// The C function that reads a field: its number, the mailbox, room for the value, how many
/// elements.
type GetFn = unsafe extern "C" fn(u32, *const u64, *mut u8, usize);

/// Which macro reaches a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Access {
    /// `DEVX_SET` and `DEVX_GET`.
    Dword,
    /// `DEVX_SET64` and `DEVX_GET64`.
    Qword,
    /// The same for each element of an array.
    Dwords,
    /// The same for each element of an array.
    Qwords,
    /// Bytes at `DEVX_ADDR_OF`.
    Bytes,
    /// Bytes at `DEVX_ADDR_OF`, for each element of an array.
    Blocks,
}

/// A field of the library.
#[derive(Debug)]
struct CodeField {
    number: u32,
    access: Access,
    /// The offset in bits.
    bit: u64,
    /// Bits of one element.
    element: u64,
    count: Count,
}

impl CodeField {
    /// How many elements are in a mailbox of this many bytes. Of a list, as many as there is room
    /// for.
    fn elements(&self, mailbox: usize) -> usize {
        match self.count {
            Count::One => 1,
            Count::Array(n) => size(n),
            Count::List if self.element == 0 => 0,
            Count::List => size((mailbox as u64 * 8).saturating_sub(self.bit) / self.element),
        }
    }

    /// How many bytes of a value stand for one element.
    fn value_bytes(&self) -> usize {
        match self.access {
            Access::Bytes | Access::Blocks => size(self.element / 8),
            _ => 8,
        }
    }

    /// The `n` the C macros expect for this many elements.
    fn n(&self, elements: usize) -> usize {
        match self.access {
            Access::Bytes => elements * self.value_bytes(),
            _ => elements,
        }
    }
}

/// A layout of the library.
#[derive(Debug)]
struct CodeLayout {
    set: SetFn,
    get: GetFn,
    fields: HashMap<String, CodeField>,
}

/// The compiled C library.
///
/// Values are: for a number of up to 64 bits, 8 bytes, big-endian; for an array or list of numbers
/// that are not bytes, 8 such bytes for each element; for bytes, wide fields and nested layouts,
/// the bytes as they are in the mailbox.
#[derive(Debug)]
pub(crate) struct CCode {
    layouts: HashMap<String, CodeLayout>,
    odd_qwords: Vec<String>,
    fields: usize,
    /// Keeps the functions above in memory.
    _library: libloading::Library,
}

impl CCode {
    /// Generates the C code for these layouts, compiles it with their headers, and loads it.
    pub(crate) fn build(layouts: &[CLayout], headers: &Headers) -> Result<CCode, String> {
        // What is loaded stays when its file is gone.
        let scratch = scratch();
        let scratch = scratch.path();
        let prelude = headers.prepare(scratch)?;
        let bits: HashMap<&str, u64> =
            layouts.iter().map(|layout| (layout.name.as_str(), layout.bits)).collect();
        let mut parts = vec![format!("{prelude}{MACROS}"); PARTS];
        let mut odd_qwords = Vec::new();
        let mut fields = Vec::new();
        for (number, layout) in layouts.iter().enumerate() {
            let mut known = HashMap::new();
            for (field_number, field) in (0u32..).zip(&layout.fields) {
                let Some(code) = code_field(field_number, field, &bits) else { continue };
                if field.element == Element::Bits(64)
                    && matches!(code.access, Access::Bytes | Access::Blocks)
                {
                    odd_qwords.push(format!("{}.{}: {field}", layout.name, field.name));
                }
                known.insert(field.name.clone(), code);
            }
            generate(&mut parts[number % PARTS], number, layout, &known);
            fields.push(known);
        }

        let library = scratch.join("accessors.so");
        let mut objects = Vec::new();
        let mut running = Vec::new();
        for (number, text) in parts.iter().enumerate() {
            let source = scratch.join(format!("accessors{number}.c"));
            let object = scratch.join(format!("accessors{number}.o"));
            write(&source, text)?;
            let child = gcc(scratch)
                .args(["-O1", "-fPIC", "-fno-strict-aliasing", "-c", "-o"])
                .args([&object, &source])
                .stderr(Stdio::piped())
                .spawn();
            running.push((source, child));
            objects.push(object);
        }
        // Wait for all of them before the first error ends this.
        let results: Vec<_> = running
            .into_iter()
            .map(|(source, child)| {
                finish(&source.display().to_string(), child).map_err(|e| {
                    format!("{e}\n(is infiniband/mlx5dv.h missing, install libibverbs-dev)")
                })
            })
            .collect();
        results.into_iter().collect::<Result<(), String>>()?;
        let child = gcc(scratch)
            .args(["-shared", "-o"])
            .arg(&library)
            .args(&objects)
            .stderr(Stdio::piped())
            .spawn();
        finish("the library of accessors", child)?;
        let (layouts, library) = load(&library, layouts, fields)?;
        let fields = layouts.values().map(|layout| layout.fields.len()).sum();
        Ok(CCode { layouts, odd_qwords, fields, _library: library })
    }

    /// Whether the library can set and get this field.
    pub(crate) fn has(&self, layout: &str, field: &str) -> bool {
        self.layouts.get(layout).is_some_and(|layout| layout.fields.contains_key(field))
    }

    /// How many fields the library can set and get.
    pub(crate) fn fields(&self) -> usize {
        self.fields
    }

    /// The 64-bit fields at an odd dword, with their place. `DEVX_SET64` counts in qwords and would
    /// miss them, so they are reached as 8 bytes at `DEVX_ADDR_OF`.
    pub(crate) fn odd_qwords(&self) -> &[String] {
        &self.odd_qwords
    }

    /// How many bytes the value of a field has in a mailbox of this many bytes. Of a list: a whole
    /// number of elements, as many as there is room for.
    ///
    /// # Panics
    ///
    /// If the library has no such field (see [`CCode::has`]).
    pub(crate) fn value_len(&self, layout: &str, field: &str, mailbox: usize) -> usize {
        let (_, field) = self.field(layout, field);
        field.elements(mailbox) * field.value_bytes()
    }

    /// How many bytes of a value stand for one element of the field: 8 for numbers, the size of
    /// the element for bytes, wide fields and nested layouts.
    ///
    /// # Panics
    ///
    /// If the library has no such field.
    pub(crate) fn element_len(&self, layout: &str, field: &str) -> usize {
        self.field(layout, field).1.value_bytes()
    }

    /// Writes a value to a field. Of a list, as many elements as `value` has.
    ///
    /// # Panics
    ///
    /// If the library has no such field, the mailbox is too short for it, or the value has another
    /// length than the field; and if the C code wrote past the end of the mailbox.
    pub(crate) fn set(&self, layout: &str, field: &str, mailbox: &mut [u8], value: &[u8]) {
        let (code, info) = self.field(layout, field);
        let bytes = info.value_bytes();
        let elements = value.len().checked_div(bytes).unwrap_or(0);
        assert_eq!(elements * bytes, value.len(), "{layout}.{field}: value of part of an element");
        if info.count != Count::List {
            let all = info.elements(mailbox.len()) * bytes;
            assert_eq!(value.len(), all, "{layout}.{field}: length of the value");
        }
        let mut buffer = Buffer::new(mailbox);
        buffer.check(layout, field, info, elements);
        let words = buffer.words.as_mut_ptr();
        #[allow(unsafe_code)]
        // SAFETY: the function is the one `load` found for this layout, of this type. `words` is
        // aligned to 8 bytes; `check` saw that the elements end before the mailbox does, and there
        // are 8 more bytes after it, so that the dword or qword around any of them is inside the
        // buffer. `value` holds `elements` whole elements.
        unsafe {
            (code.set)(info.number, words, value.as_ptr(), info.n(elements));
        }
        buffer.copy_back(layout, field, mailbox);
    }

    /// Reads the value of a field. Of a list, as many elements as the mailbox has room for.
    ///
    /// # Panics
    ///
    /// If the library has no such field, or the mailbox is too short for it.
    pub(crate) fn get(&self, layout: &str, field: &str, mailbox: &[u8]) -> Vec<u8> {
        let (code, info) = self.field(layout, field);
        let elements = info.elements(mailbox.len());
        let mut value = vec![0; elements * info.value_bytes()];
        let buffer = Buffer::new(mailbox);
        buffer.check(layout, field, info, elements);
        let words = buffer.words.as_ptr();
        #[allow(unsafe_code)]
        // SAFETY: as in `set`; the C code only reads `words`, and `value` has room for `elements`
        // whole elements.
        unsafe {
            (code.get)(info.number, words, value.as_mut_ptr(), info.n(elements));
        }
        value
    }

    fn field(&self, layout: &str, field: &str) -> (&CodeLayout, &CodeField) {
        let code = self.layouts.get(layout);
        let info = code.and_then(|code| code.fields.get(field));
        match (code, info) {
            (Some(code), Some(info)) => (code, info),
            _ => panic!("the C library has no {layout}.{field}; ask `has` first"),
        }
    }
}

/// A copy of a mailbox the DEVX macros can work on: aligned to 8 bytes, with 8 bytes or more of
/// zeros after it.
struct Buffer {
    words: Vec<u64>,
    bytes: usize,
}

impl Buffer {
    fn new(mailbox: &[u8]) -> Buffer {
        let mut words = vec![0u64; mailbox.len().div_ceil(8) + 1];
        for (word, bytes) in words.iter_mut().zip(mailbox.chunks(8)) {
            let mut whole = [0; 8];
            whole[..bytes.len()].copy_from_slice(bytes);
            *word = u64::from_ne_bytes(whole);
        }
        Buffer { words, bytes: mailbox.len() }
    }

    fn check(&self, layout: &str, name: &str, field: &CodeField, elements: usize) {
        let end = (field.bit + field.element * elements as u64).div_ceil(8);
        assert!(
            end <= self.bytes as u64,
            "{layout}.{name}: ends at byte {end}, the mailbox has {}",
            self.bytes
        );
    }

    fn copy_back(&self, layout: &str, name: &str, mailbox: &mut [u8]) {
        let all: Vec<u8> = self.words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        let (inside, after) = all.split_at(mailbox.len());
        assert!(
            after.iter().all(|byte| *byte == 0),
            "{layout}.{name}: the C code wrote past the end of the mailbox"
        );
        mailbox.copy_from_slice(inside);
    }
}

/// How to reach a field, if there is a macro for it.
fn code_field(number: u32, field: &Field, bits: &HashMap<&str, u64>) -> Option<CodeField> {
    let single = field.count == Count::One;
    let (element, nested) = match &field.element {
        Element::Bits(width) => (*width, false),
        Element::Layout(name) => (*bits.get(name.as_str())?, true),
    };
    let elements = match field.count {
        Count::One => 1,
        Count::Array(n) => n,
        // However long it is, the places in a dword repeat after 32 elements.
        Count::List => 32,
    };
    // The DEVX macros count from a dword, or from a qword.
    let in_dword = |index| (field.bit + index * element) % 32 + element <= 32;
    let whole_bytes = field.bit.is_multiple_of(8) && element.is_multiple_of(8);
    let access = match (element, single) {
        _ if nested => match (whole_bytes, single) {
            (false, _) => return None,
            (true, true) => Access::Bytes,
            (true, false) => Access::Blocks,
        },
        (8, false) if whole_bytes => Access::Bytes,
        (1..=32, true) if in_dword(0) => Access::Dword,
        (1..=32, false) if (0..elements).all(in_dword) => Access::Dwords,
        (64, true) if field.bit.is_multiple_of(64) => Access::Qword,
        (64, false) if field.bit.is_multiple_of(64) => Access::Qwords,
        // Numbers of 64 bits at an odd dword are bytes for the macros: the same 8 bytes.
        (64, true) if field.bit.is_multiple_of(8) => Access::Bytes,
        (64, false) if field.bit.is_multiple_of(8) => Access::Blocks,
        (65.., true) if whole_bytes => Access::Bytes,
        (65.., false) if whole_bytes => Access::Blocks,
        _ => return None,
    };
    Some(CodeField { number, access, bit: field.bit, element, count: field.count })
}

/// Adds the two functions of one layout to a C file.
fn generate(c: &mut String, number: usize, layout: &CLayout, known: &HashMap<String, CodeField>) {
    // The DEVX macros want `struct mlx5_ifc_X_bits`. What is a union, has another tag, or has none,
    // is wrapped in such a struct.
    let plain = layout
        .tag
        .strip_prefix("mlx5_ifc_")
        .and_then(|name| name.strip_suffix("_bits"))
        .filter(|_| !layout.is_union && !layout.inline);
    let (typ, path) = match plain {
        Some(name) => (name.to_owned(), ""),
        None => {
            let typ = format!("test_wrap_{number}");
            line(c, format_args!("struct mlx5_ifc_{typ}_bits {{ {} in; }};", layout.c_type));
            (typ, "in.")
        }
    };
    let mut function = |verb: &str, head: String| {
        line(c, format_args!("{head}\n{{\n\tswitch (field) {{"));
        for field in &layout.fields {
            let Some(code) = known.get(&field.name) else { continue };
            let macro_name = match code.access {
                Access::Dword => "DWORD",
                Access::Qword => "QWORD",
                Access::Dwords => "DWORDS",
                Access::Qwords => "QWORDS",
                Access::Bytes => "BYTES",
                Access::Blocks => "BLOCKS",
            };
            line(
                c,
                format_args!(
                    "\tcase {}: {verb}_{macro_name}({typ}, {path}{}); break;",
                    code.number, field.name
                ),
            );
        }
        line(c, format_args!("\t}}\n}}"));
    };
    let set = format!("void set_{number}(uint32_t field, void *p, const uint8_t *v, size_t n)");
    let get = format!("void get_{number}(uint32_t field, const void *p, uint8_t *v, size_t n)");
    function("SET", set);
    function("GET", get);
}

fn line(c: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a String does not fail.
    let _ = writeln!(c, "{text}");
}

/// Loads the library and finds the functions of every layout.
fn load(
    path: &Path,
    layouts: &[CLayout],
    fields: Vec<HashMap<String, CodeField>>,
) -> Result<(HashMap<String, CodeLayout>, libloading::Library), String> {
    let not_found = |e: libloading::Error| format!("{}: cannot load ({e})", path.display());
    #[allow(unsafe_code)]
    // SAFETY: the library was just made from our own C code, which has nothing that runs when it is
    // loaded or unloaded.
    let library = unsafe { libloading::Library::new(path) }.map_err(not_found)?;
    let mut by_name = HashMap::new();
    for ((number, layout), fields) in layouts.iter().enumerate().zip(fields) {
        #[allow(unsafe_code)]
        // SAFETY: `generate` gave the function of this name these parameters and no result. The
        // pointer is kept next to the library that holds the function.
        let set = unsafe { library.get::<SetFn>(format!("set_{number}")) };
        #[allow(unsafe_code)]
        // SAFETY: as above.
        let get = unsafe { library.get::<GetFn>(format!("get_{number}")) };
        let (set, get) = (*set.map_err(not_found)?, *get.map_err(not_found)?);
        by_name.insert(layout.name.clone(), CodeLayout { set, get, fields });
    }
    Ok((by_name, library))
}

/// A size of the headers as a size in memory.
fn size(n: u64) -> usize {
    usize::try_from(n).expect("the layouts of the headers are far smaller than memory")
}
