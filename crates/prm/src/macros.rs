//! How generated code is written down: a line per field, which becomes its accessors and its
//! description.

/// A layout: its accessors and its description.
///
/// Positions are written as the PRM writes them: byte offset of the dword, then bits high:low.
macro_rules! layout {
    ($Name:ident, $tag:path, $prm:literal, $kind:ident, $size:literal $(, opcode $opcode:literal)? $(, $about:literal)?;
     $( $(#[$doc:meta])* $field:ident $args:tt $($access:ident)? $({ $($values:tt)* })? $($words:literal)?; )*) => {
        // A field may be called `len`.
        #[allow(clippy::len_without_is_empty)]
        impl $Name {
            $( accessors! { $prm, [$(#[$doc])* $(#[doc = $words])?] $field $args } )*
        }
        impl $crate::Described for $tag {
            const DESC: &'static $crate::LayoutDesc = &$crate::LayoutDesc {
                name: $prm,
                kind: $crate::Kind::$kind,
                size: $size,
                about: words!($($about)?),
                fields: &[ $( description! { $field $args [$($access)?] [$($($values)*)?] words!($($words)?) } ),* ],
            };
            $( const OPCODE: Option<u16> = Some($opcode); )?
        }
    };
}

/// The accessors of one field: to read it, and to write it unless it is read only.
macro_rules! accessors {
    ($prm:literal, [$($doc:tt)*] tail ($($of:tt)*)) => {
        // A list behind the layout's end: see its alias of `WithTail`.
    };
    ($prm:literal, [$($doc:tt)*] list ($get:ident: $type:ty = $name:literal $at:literal $($of:tt)*)) => {
        inner_list! { $($doc)* $get: $type = $at }
    };
    ($prm:literal, [$($doc:tt)*] $kind:ident ($get:ident: $($rest:tt)*)) => {
        getter! { [$($doc)*] $kind ($get: $($rest)*) }
    };
    ($prm:literal, [$($doc:tt)*] $kind:ident ($get:ident $($set:ident)+: $($rest:tt)*)) => {
        getter! { [$($doc)*] $kind ($get: $($rest)*) }
        setters! { [$($doc)*] $prm, $kind ($($set)*: $($rest)*) }
    };
}

/// What reads one field.
macro_rules! getter {
    // A number of up to 32 bits.
    ([$($doc:tt)*] bits ($get:ident:
      $type:ident = $name:literal $dword:literal[$high:literal:$low:literal])) => {
        $($doc)*
        #[inline]
        pub const fn $get(&self) -> $type {
            $crate::bits::$type::get(self, $dword, $high, $low)
        }
    };
    ([$($doc:tt)*] full ($($of:tt)*)) => {
        getter! { [$($doc)*] bits ($($of)*) }
    };
    // One bit.
    ([$($doc:tt)*] flag ($get:ident: bool = $name:literal $dword:literal[$bit:literal])) => {
        $($doc)*
        #[inline]
        pub const fn $get(&self) -> bool {
            $crate::bits::get_flag(self, $dword, $bit)
        }
    };
    // A number whose values have names.
    ([$($doc:tt)*] coded ($get:ident:
      $type:ident($raw:ident) = $name:literal $dword:literal[$high:literal:$low:literal])) => {
        $($doc)*
        #[inline]
        pub const fn $get(&self) -> $crate::$type {
            $crate::$type($crate::bits::$raw::get(self, $dword, $high, $low))
        }
    };
    ([$($doc:tt)*] coded_full ($($of:tt)*)) => {
        getter! { [$($doc)*] coded ($($of)*) }
    };
    // The number of an object.
    ([$($doc:tt)*] number ($get:ident:
      $type:ident = $name:literal $dword:literal[$high:literal:$low:literal])) => {
        $($doc)*
        #[inline]
        pub const fn $get(&self) -> $crate::$type {
            $crate::$type::of_field($crate::bits::u32::get(self, $dword, $high, $low))
        }
    };
    // Flags.
    ([$($doc:tt)*] flags ($get:ident:
      $type:ident($raw:ident) = $name:literal $dword:literal[$high:literal:$low:literal])) => {
        $($doc)*
        #[inline]
        pub const fn $get(&self) -> $crate::$type {
            $crate::$type::from_bits($crate::bits::$raw::get(self, $dword, $high, $low))
        }
    };
    ([$($doc:tt)*] flags_full ($($of:tt)*)) => {
        getter! { [$($doc)*] flags ($($of)*) }
    };
    ([$($doc:tt)*] flags_quad ($get:ident: $type:ident($raw:ident) = $name:literal $at:literal)) => {
        $($doc)*
        #[inline]
        pub const fn $get(&self) -> $crate::$type {
            $crate::$type::from_bits($crate::bits::quad(self, $at))
        }
    };
    // A number of 64 bits.
    ([$($doc:tt)*] quad ($get:ident: u64 = $name:literal $at:literal)) => {
        $($doc)*
        #[inline]
        pub const fn $get(&self) -> u64 {
            $crate::bits::quad(self, $at)
        }
    };
    // A number wider than 32 bits that does not fill its type.
    ([$($doc:tt)*] wide ($get:ident: $type:ident = $name:literal $at:literal $width:literal)) => {
        $($doc)*
        #[inline]
        pub const fn $get(&self) -> $type {
            $crate::bits::get_wide(&self.bytes, $at * 8, $width) as $type
        }
    };
    // A layout, viewed in place.
    ([$($doc:tt)*] nested ($get:ident: $type:ident = $name:literal $at:literal, $size:literal)) => {
        $($doc)*
        #[inline]
        pub const fn $get(&self) -> &$type {
            $crate::bits::nested(self, $at)
        }
    };
    // An array of numbers narrower than a byte.
    ([$($doc:tt)*] packed ($get:ident: u8 = $name:literal $dword:literal[$high:literal] $width:literal * $n:literal)) => {
        $($doc)*
        ///
        /// # Panics
        /// There is no element `index`.
        #[inline]
        #[track_caller]
        pub const fn $get(&self, index: usize) -> u8 {
            $crate::bits::packed(&self.bytes, $dword * 8 + 31 - $high, $width, $n, index)
        }
    };
    // Bytes and arrays, viewed in place.
    ([$($doc:tt)*] $kind:ident ($get:ident: $type:ty = $name:literal $at:literal, $size:literal)) => {
        $($doc)*
        #[inline]
        pub const fn $get(&self) -> &$type {
            $crate::bits::part::<$type, $at, $size>(&self.bytes)
        }
    };
}

/// What writes one field.
macro_rules! setters {
    // A number narrower than its type.
    ([$($doc:tt)*] $prm:literal, bits ($set:ident $with:ident $try:ident:
      $type:ident = $name:literal $dword:literal[$high:literal:$low:literal])) => {
        $($doc)*
        ///
        /// # Panics
        /// The value does not fit.
        #[inline]
        #[track_caller]
        pub const fn $set(&mut self, value: $type) {
            $crate::bits::$type::set(self, $dword, $high, $low, value, ($prm, $name));
        }
        $($doc)*
        ///
        /// # Panics
        /// The value does not fit.
        #[inline]
        #[track_caller]
        #[must_use]
        pub const fn $with(self, value: $type) -> Self {
            $crate::bits::$type::with(self, $dword, $high, $low, value, ($prm, $name))
        }
        $($doc)*
        ///
        /// # Errors
        /// The value does not fit; nothing is written.
        #[inline]
        pub const fn $try(&mut self, value: $type) -> Result<(), $crate::FieldError> {
            $crate::bits::$type::try_set(self, $dword, $high, $low, value, ($prm, $name))
        }
    };
    // A number as wide as its type.
    ([$($doc:tt)*] $prm:literal, full ($set:ident $with:ident:
      $type:ident = $name:literal $dword:literal[$high:literal:$low:literal])) => {
        $($doc)*
        #[inline]
        pub const fn $set(&mut self, value: $type) {
            $crate::bits::$type::put(self, $dword, $high, value);
        }
        $($doc)*
        #[inline]
        #[must_use]
        pub const fn $with(self, value: $type) -> Self {
            $crate::bits::$type::with_full(self, $dword, $high, value)
        }
    };
    // One bit.
    ([$($doc:tt)*] $prm:literal, flag ($set:ident $with:ident:
      bool = $name:literal $dword:literal[$bit:literal])) => {
        $($doc)*
        #[inline]
        pub const fn $set(&mut self, value: bool) {
            $crate::bits::set_flag(self, $dword, $bit, value);
        }
        $($doc)*
        #[inline]
        #[must_use]
        pub const fn $with(self, value: bool) -> Self {
            $crate::bits::with_flag(self, $dword, $bit, value)
        }
    };
    // A number whose values have names, narrower than its type.
    ([$($doc:tt)*] $prm:literal, coded ($set:ident $with:ident $try:ident:
      $type:ident($raw:ident) = $name:literal $dword:literal[$high:literal:$low:literal])) => {
        $($doc)*
        ///
        /// # Panics
        /// The value does not fit.
        #[inline]
        #[track_caller]
        pub const fn $set(&mut self, value: $crate::$type) {
            $crate::bits::$raw::set(self, $dword, $high, $low, value.0, ($prm, $name));
        }
        $($doc)*
        ///
        /// # Panics
        /// The value does not fit.
        #[inline]
        #[track_caller]
        #[must_use]
        pub const fn $with(self, value: $crate::$type) -> Self {
            $crate::bits::$raw::with(self, $dword, $high, $low, value.0, ($prm, $name))
        }
        $($doc)*
        ///
        /// # Errors
        /// The value does not fit; nothing is written.
        #[inline]
        pub const fn $try(&mut self, value: $crate::$type) -> Result<(), $crate::FieldError> {
            $crate::bits::$raw::try_set(self, $dword, $high, $low, value.0, ($prm, $name))
        }
    };
    // A number whose values have names, as wide as its type.
    ([$($doc:tt)*] $prm:literal, coded_full ($set:ident $with:ident:
      $type:ident($raw:ident) = $name:literal $dword:literal[$high:literal:$low:literal])) => {
        $($doc)*
        #[inline]
        pub const fn $set(&mut self, value: $crate::$type) {
            $crate::bits::$raw::put(self, $dword, $high, value.0);
        }
        $($doc)*
        #[inline]
        #[must_use]
        pub const fn $with(self, value: $crate::$type) -> Self {
            $crate::bits::$raw::with_full(self, $dword, $high, value.0)
        }
    };
    // The number of an object: it fits.
    ([$($doc:tt)*] $prm:literal, number ($set:ident $with:ident:
      $type:ident = $name:literal $dword:literal[$high:literal:$low:literal])) => {
        $($doc)*
        #[inline]
        pub const fn $set(&mut self, value: $crate::$type) {
            $crate::bits::put(self, $dword, $high, $low, value.get());
        }
        $($doc)*
        #[inline]
        #[must_use]
        pub const fn $with(self, value: $crate::$type) -> Self {
            $crate::bits::with(self, $dword, $high, $low, value.get())
        }
    };
    // Flags, fewer than their type has room for.
    ([$($doc:tt)*] $prm:literal, flags ($set:ident $with:ident $try:ident:
      $type:ident($raw:ident) = $name:literal $dword:literal[$high:literal:$low:literal])) => {
        $($doc)*
        ///
        /// # Panics
        /// A flag lies outside of the field.
        #[inline]
        #[track_caller]
        pub const fn $set(&mut self, value: $crate::$type) {
            $crate::bits::$raw::set(self, $dword, $high, $low, value.into_bits(), ($prm, $name));
        }
        $($doc)*
        ///
        /// # Panics
        /// A flag lies outside of the field.
        #[inline]
        #[track_caller]
        #[must_use]
        pub const fn $with(self, value: $crate::$type) -> Self {
            $crate::bits::$raw::with(self, $dword, $high, $low, value.into_bits(), ($prm, $name))
        }
        $($doc)*
        ///
        /// # Errors
        /// A flag lies outside of the field; nothing is written.
        #[inline]
        pub const fn $try(&mut self, value: $crate::$type) -> Result<(), $crate::FieldError> {
            $crate::bits::$raw::try_set(self, $dword, $high, $low, value.into_bits(), ($prm, $name))
        }
    };
    // Flags that take all of their type.
    ([$($doc:tt)*] $prm:literal, flags_full ($set:ident $with:ident:
      $type:ident($raw:ident) = $name:literal $dword:literal[$high:literal:$low:literal])) => {
        $($doc)*
        #[inline]
        pub const fn $set(&mut self, value: $crate::$type) {
            $crate::bits::$raw::put(self, $dword, $high, value.into_bits());
        }
        $($doc)*
        #[inline]
        #[must_use]
        pub const fn $with(self, value: $crate::$type) -> Self {
            $crate::bits::$raw::with_full(self, $dword, $high, value.into_bits())
        }
    };
    ([$($doc:tt)*] $prm:literal, flags_quad ($set:ident $with:ident:
      $type:ident($raw:ident) = $name:literal $at:literal)) => {
        $($doc)*
        #[inline]
        pub const fn $set(&mut self, value: $crate::$type) {
            $crate::bits::set_quad(self, $at, value.into_bits());
        }
        $($doc)*
        #[inline]
        #[must_use]
        pub const fn $with(self, value: $crate::$type) -> Self {
            $crate::bits::with_quad(self, $at, value.into_bits())
        }
    };
    // A number of 64 bits.
    ([$($doc:tt)*] $prm:literal, quad ($set:ident $with:ident: u64 = $name:literal $at:literal)) => {
        $($doc)*
        #[inline]
        pub const fn $set(&mut self, value: u64) {
            $crate::bits::set_quad(self, $at, value);
        }
        $($doc)*
        #[inline]
        #[must_use]
        pub const fn $with(self, value: u64) -> Self {
            $crate::bits::with_quad(self, $at, value)
        }
    };
    // A number wider than 32 bits that does not fill its type.
    ([$($doc:tt)*] $prm:literal, wide ($set:ident $with:ident $try:ident:
      $type:ident = $name:literal $at:literal $width:literal)) => {
        $($doc)*
        ///
        /// # Panics
        /// The value does not fit.
        #[inline]
        #[track_caller]
        pub const fn $set(&mut self, value: $type) {
            $crate::bits::set_wide_checked(
                &mut self.bytes,
                $at,
                $width,
                value as u128,
                ($prm, $name),
            );
        }
        $($doc)*
        ///
        /// # Panics
        /// The value does not fit.
        #[inline]
        #[track_caller]
        #[must_use]
        pub const fn $with(mut self, value: $type) -> Self {
            $crate::bits::set_wide_checked(
                &mut self.bytes,
                $at,
                $width,
                value as u128,
                ($prm, $name),
            );
            self
        }
        $($doc)*
        ///
        /// # Errors
        /// The value does not fit; nothing is written.
        #[inline]
        pub const fn $try(&mut self, value: $type) -> Result<(), $crate::FieldError> {
            $crate::bits::try_wide(&mut self.bytes, $at, $width, value as u128, ($prm, $name))
        }
    };
    // A layout, viewed in place.
    ([$($doc:tt)*] $prm:literal, nested ($mut:ident $set:ident $with:ident:
      $type:ident = $name:literal $at:literal, $size:literal)) => {
        $($doc)*
        #[inline]
        pub fn $mut(&mut self) -> &mut $type {
            $crate::bits::nested_mut(self, $at)
        }
        $($doc)*
        #[inline]
        pub const fn $set(&mut self, value: &$type) {
            $crate::bits::set_nested(self, $at, value);
        }
        $($doc)*
        #[inline]
        #[must_use]
        pub const fn $with(self, value: $type) -> Self {
            $crate::bits::with_nested(self, $at, &value)
        }
    };
    // Bytes and arrays, viewed in place.
    ([$($doc:tt)*] $prm:literal, $kind:ident ($mut:ident $set:ident $with:ident:
      $type:ty = $name:literal $at:literal, $size:literal)) => {
        $($doc)*
        #[inline]
        pub fn $mut(&mut self) -> &mut $type {
            $crate::bits::part_mut::<$type, $at, $size>(&mut self.bytes)
        }
        $($doc)*
        #[inline]
        pub const fn $set(&mut self, value: &$type) {
            $crate::bits::set_part::<$type, $at, $size>(&mut self.bytes, value);
        }
        $($doc)*
        #[inline]
        #[must_use]
        pub const fn $with(mut self, value: $type) -> Self {
            $crate::bits::set_part::<$type, $at, $size>(&mut self.bytes, &value);
            self
        }
    };
}

/// A list that begins before the end of its layout, so that it can't follow it.
#[allow(unused_macros)] // by families that have none
macro_rules! inner_list {
    ($(#[$doc:meta])* $get:ident: $type:ty = $at:literal) => {
        $(#[$doc])*
        ///
        /// It goes to the end of `mailbox`, which begins with this layout. What is left there after
        /// the last whole element is not shown.
        pub fn $get(mailbox: &[u8]) -> &[$type] {
            let list = mailbox.get($at..).unwrap_or_default();
            let whole = list.len() - list.len() % size_of::<$type>();
            zerocopy::FromBytes::ref_from_bytes(&list[..whole]).unwrap_or_default()
        }
    };
}

/// The tags of a family's layouts.
macro_rules! tags {
    ($( $Name:ident, )*) => {
        $(
            #[doc = concat!("Tag of [`", stringify!($Name), "`](super::", stringify!($Name), ").")]
            pub enum $Name {}
        )*
    };
}

/// A [`Place`](crate::Place): dword, first bit in it, width.
#[allow(unused_macros)] // by families that have none
macro_rules! place {
    ($dword:literal[$high:literal] $width:literal) => {
        $crate::Place { bit: $dword * 8 + 31 - $high, width: $width }
    };
}

/// A [`SelectedField`](crate::SelectedField): its path and its place.
#[allow(unused_macros)] // by families that have none
macro_rules! selected {
    ($path:literal $($place:tt)*) => {
        $crate::SelectedField { path: $path, place: $($place)* }
    };
}

/// The description of one field.
macro_rules! description {
    (number ($($names:ident)*: $type:ident = $name:literal $dword:literal[$high:literal:$low:literal]) [$($access:ident)?] [$($values:tt)*] $words:expr) => {
        $crate::FieldDesc {
            name: $name,
            element: $crate::Element::Number($crate::$type::DESC),
            count: $crate::Count::One,
            at: $dword,
            high: $high,
            low: $low,
            access: access!($($access)?),
            words: $words,
        }
    };
    (flags_quad ($($names:ident)*: $type:ident($raw:ident) = $name:literal $at:literal) [$($access:ident)?] [$($values:tt)*] $words:expr) => {
        $crate::FieldDesc {
            name: $name,
            element: $crate::Element::Flags($crate::$type::DESC),
            count: $crate::Count::One,
            at: $at,
            high: 31,
            low: 32 - 64,
            access: access!($($access)?),
            words: $words,
        }
    };
    ($kind:ident ($($names:ident)*:
      $type:ident($raw:ident) = $name:literal $dword:literal[$high:literal:$low:literal]) [$($access:ident)?] [$($values:tt)*] $words:expr) => {
        $crate::FieldDesc {
            name: $name,
            element: named!($kind $type),
            count: $crate::Count::One,
            at: $dword,
            high: $high,
            low: $low,
            access: access!($($access)?),
            words: $words,
        }
    };
    (flag ($($names:ident)*: bool = $name:literal $dword:literal[$bit:literal]) [$($access:ident)?] [$($values:tt)*] $words:expr) => {
        $crate::FieldDesc {
            name: $name,
            element: element!($name; $($values)*),
            count: $crate::Count::One,
            at: $dword,
            high: $bit,
            low: $bit,
            access: access!($($access)?),
            words: $words,
        }
    };
    ($kind:ident ($($names:ident)*: $type:ident = $name:literal $dword:literal[$high:literal:$low:literal]) [$($access:ident)?] [$($values:tt)*] $words:expr) => {
        $crate::FieldDesc {
            name: $name,
            element: element!($name; $($values)*),
            count: $crate::Count::One,
            at: $dword,
            high: $high,
            low: $low,
            access: access!($($access)?),
            words: $words,
        }
    };
    (quad ($($names:ident)*: u64 = $name:literal $at:literal) [$($access:ident)?] [$($values:tt)*] $words:expr) => {
        $crate::FieldDesc {
            name: $name,
            element: element!($name; $($values)*),
            count: $crate::Count::One,
            at: $at,
            high: 31,
            low: 32 - 64,
            access: access!($($access)?),
            words: $words,
        }
    };
    (wide ($($names:ident)*: $type:ident = $name:literal $at:literal $width:literal) [$($access:ident)?] [$($values:tt)*] $words:expr) => {
        $crate::FieldDesc {
            name: $name,
            element: element!($name; $($values)*),
            count: $crate::Count::One,
            at: $at,
            high: 31,
            low: 32 - $width,
            access: access!($($access)?),
            words: $words,
        }
    };
    (bytes ($($names:ident)*: $type:ty = $name:literal $at:literal, $size:literal) [$($access:ident)?] [$($values:tt)*] $words:expr) => {
        $crate::FieldDesc {
            name: $name,
            element: element!($name; $($values)*),
            count: $crate::Count::One,
            at: $at,
            high: 31,
            low: 32 - $size * 8,
            access: access!($($access)?),
            words: $words,
        }
    };
    (array ($($names:ident)*: [$type:ty; $n:literal] = $name:literal $at:literal, $size:literal) [$($access:ident)?] [$($values:tt)*] $words:expr) => {
        $crate::FieldDesc {
            name: $name,
            element: element!($name; $($values)*),
            count: $crate::Count::Array($n),
            at: $at,
            high: 31,
            low: 32 - size_of::<$type>() as i32 * 8,
            access: access!($($access)?),
            words: $words,
        }
    };
    (packed ($get:ident: u8 = $name:literal $dword:literal[$high:literal] $width:literal * $n:literal) [$($access:ident)?] [$($values:tt)*] $words:expr) => {
        $crate::FieldDesc {
            name: $name,
            element: element!($name; $($values)*),
            count: $crate::Count::Array($n),
            at: $dword,
            high: $high,
            low: $high - $width + 1,
            access: access!($($access)?),
            words: $words,
        }
    };
    (nested ($($names:ident)*: $type:ty = $name:literal $at:literal, $size:literal) [$($access:ident)?] [$($values:tt)*] $words:expr) => {
        $crate::FieldDesc {
            name: $name,
            element: $crate::Element::Layout(<$type as $crate::Described>::DESC),
            count: $crate::Count::One,
            at: $at,
            high: 31,
            low: 32 - $size * 8,
            access: access!($($access)?),
            words: $words,
        }
    };
    (nested_array ($($names:ident)*: [$type:ty; $n:literal] = $name:literal $at:literal, $size:literal) [$($access:ident)?] [$($values:tt)*] $words:expr) => {
        $crate::FieldDesc {
            name: $name,
            element: $crate::Element::Layout(<$type as $crate::Described>::DESC),
            count: $crate::Count::Array($n),
            at: $at,
            high: 31,
            low: 32 - size_of::<$type>() as i32 * 8,
            access: access!($($access)?),
            words: $words,
        }
    };
    (tail (bits $width:literal = $name:literal $at:literal) [$($access:ident)?] [$($values:tt)*] $words:expr) => {
        $crate::FieldDesc {
            name: $name,
            element: element!($name; $($values)*),
            count: $crate::Count::List,
            at: $at,
            high: 31,
            low: 32 - $width,
            access: access!($($access)?),
            words: $words,
        }
    };
    (tail (layout $type:ty = $name:literal $at:literal) [$($access:ident)?] [$($values:tt)*] $words:expr) => {
        $crate::FieldDesc {
            name: $name,
            element: $crate::Element::Layout(<$type as $crate::Described>::DESC),
            count: $crate::Count::List,
            at: $at,
            high: 31,
            low: 32 - size_of::<$type>() as i32 * 8,
            access: access!($($access)?),
            words: $words,
        }
    };
    (list ($get:ident: $type:ty = $name:literal $at:literal $($of:tt)*) [$($access:ident)?] [$($values:tt)*] $words:expr) => {
        description!(tail ($($of)* = $name $at) [$($access)?] [$($values)*] $words)
    };
}

/// The names of a number's values, or of its flags.
macro_rules! named {
    (coded $type:ident) => {
        $crate::Element::Enum($crate::$type::DESC)
    };
    (coded_full $type:ident) => {
        $crate::Element::Enum($crate::$type::DESC)
    };
    ($flags:ident $type:ident) => {
        $crate::Element::Flags($crate::$type::DESC)
    };
}

/// Words, where there are some.
macro_rules! words {
    () => {
        None
    };
    ($words:literal) => {
        Some($words)
    };
}

/// What a number holds: values with names, where its source names them.
macro_rules! element {
    ($name:literal;) => { $crate::Element::Bits };
    ($name:literal; $($text:literal = $number:literal),*) => {
        $crate::Element::Enum(&$crate::EnumDesc { name: $name, values: &[ $( ($number, $text) ),* ], is_type: false })
    };
}

/// Who may read and write a field of a register.
macro_rules! access {
    () => {
        None
    };
    ($access:ident) => {
        Some($crate::Access::$access)
    };
}

/// The number of an object.
macro_rules! number {
    ($(#[$doc:meta])* $Name:ident: $width:literal = $prm:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
        pub struct $Name(u32);

        impl $Name {
            /// What it is, and its width.
            pub const DESC: &'static $crate::NumberDesc =
                &$crate::NumberDesc { name: $prm, width: $width };

            /// The number `value`.
            ///
            /// # Panics
            /// It does not fit: a compile error in `const`. For numbers from outside use
            /// `try_from`.
            #[inline]
            #[track_caller]
            pub const fn new(value: u32) -> Self {
                if value as u64 >> $width != 0 {
                    $crate::error::too_wide($prm, value as u128, $width);
                }
                $Name(value)
            }

            /// The plain number.
            #[inline]
            pub const fn get(self) -> u32 {
                self.0
            }

            /// What stands in a field, which is as wide as the number.
            #[allow(dead_code)] // by families that have no such field
            #[inline(always)]
            pub(crate) const fn of_field(value: u32) -> Self {
                $Name(value)
            }
        }

        impl TryFrom<u32> for $Name {
            type Error = $crate::NumberError;

            fn try_from(value: u32) -> Result<Self, $crate::NumberError> {
                $crate::NumberError::check(Self::DESC, value)?;
                Ok($Name(value))
            }
        }

        impl From<$Name> for u32 {
            fn from(number: $Name) -> u32 {
                number.0
            }
        }

        impl core::fmt::Debug for $Name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                write!(f, concat!(stringify!($Name), "({:#x})"), self.0)
            }
        }

        /// Any number that fits.
        #[cfg(feature = "proptest")]
        impl proptest::arbitrary::Arbitrary for $Name {
            type Parameters = ();
            type Strategy = proptest::strategy::BoxedStrategy<Self>;

            fn arbitrary_with((): ()) -> Self::Strategy {
                $crate::arbitrary::number($width, $Name)
            }
        }

        /// In hex, as the PRM and the kernel's log have such numbers.
        impl core::fmt::Display for $Name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                write!(f, "{:#x}", self.0)
            }
        }

        impl core::fmt::LowerHex for $Name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                core::fmt::LowerHex::fmt(&self.0, f)
            }
        }
    };
}

/// `Debug` of flags: the names of those that are set, and bits that have none.
#[allow(unused_macros)] // by families that have none
macro_rules! flags_debug {
    ($Name:ident) => {
        impl core::fmt::Debug for $Name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str(concat!(stringify!($Name), "("))?;
                Self::DESC.print(self.into_bits().into(), f)?;
                f.write_str(")")
            }
        }

        /// Any flags that have a name.
        #[cfg(feature = "proptest")]
        impl proptest::arbitrary::Arbitrary for $Name {
            type Parameters = ();
            type Strategy = proptest::strategy::BoxedStrategy<Self>;

            fn arbitrary_with((): ()) -> Self::Strategy {
                $crate::arbitrary::flags(Self::DESC, |bits| Self::from_bits(bits as _))
            }
        }
    };
}

/// An enumeration whose unknown values are kept.
macro_rules! coded {
    ($(#[$doc:meta])* $Name:ident: $type:ident = $prm:literal { $( $value:ident $text:literal = $number:literal $($about:literal)?, )* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
        pub struct $Name(pub $type);

        impl $Name {
            $(
                #[doc = concat!("`", $text, "`: ", stringify!($number), "." $(, " ", $about)?)]
                pub const $value: Self = $Name($number);
            )*
            /// Names of the values.
            pub const DESC: &'static $crate::EnumDesc = &$crate::EnumDesc {
                name: $prm,
                values: &[ $( ($number, $text) ),* ],
                is_type: true,
            };

            /// The name of this value, when it has one.
            pub fn name(self) -> Option<&'static str> {
                Self::DESC.name_of(self.0.into())
            }
        }

        impl core::fmt::Debug for $Name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                match self.name() {
                    Some(name) => f.write_str(name),
                    None => write!(f, concat!(stringify!($Name), "({:#x})"), self.0),
                }
            }
        }

        /// Any value that has a name.
        #[cfg(feature = "proptest")]
        impl proptest::arbitrary::Arbitrary for $Name {
            type Parameters = ();
            type Strategy = proptest::strategy::BoxedStrategy<Self>;

            fn arbitrary_with((): ()) -> Self::Strategy {
                $crate::arbitrary::value(Self::DESC, |value| $Name(value as $type))
            }
        }
    };
}

/// The input of a command, and its output.
#[allow(unused_macros)] // by families that have none
macro_rules! request {
    ($Input:ident => $Output:ident) => {
        impl $crate::Request for $Input {
            type Output = $Output;

            #[inline]
            fn bytes(&self) -> &[u8] {
                self.as_bytes()
            }
            #[inline]
            fn bytes_mut(&mut self) -> &mut [u8] {
                self.as_bytes_mut()
            }
        }
    };
}

/// Paired calls: each sets a field and its bit of the select mask, `dword[bit]`; a field without a bit
/// counts whatever the mask says. Where another field
/// says which of several masks counts, `op_mod` for most, that is set, too.
#[allow(unused_macros)] // by families that have none
macro_rules! changes {
    ($Name:ident, $prm:literal, $variant:tt;
     $( $(#[$doc:meta])* $change:ident $changing:ident: $type:ty = $kind:ident $args:tt $(, $dword:literal[$bit:literal])?; )*) => {
        impl $Name { $(
            $(#[$doc])*
            ///
            /// A context that is given as a whole goes before it: it would replace the field.
            ///
            /// # Panics
            /// The value does not fit its field, or a change was made before that another mask counts for.
            #[inline]
            #[track_caller]
            pub const fn $change(&mut self, value: $type) {
                variant!($prm $variant self);
                put! { $prm, self, value, $kind $args }
                $( $crate::bits::set_flag(self, $dword, $bit, true); )?
            }
            #[doc = concat!("[`", stringify!($Name), "::", stringify!($change), "`] by value.")]
            ///
            /// # Panics
            /// As that does.
            #[inline]
            #[track_caller]
            #[must_use]
            pub const fn $changing(mut self, value: $type) -> Self {
                self.$change(value);
                self
            }
        )* }
    };
}

/// The builder of a QP transition: a call for each field that the command takes, and the field's
/// number in its description.
#[allow(unused_macros)] // by families that have none
macro_rules! transition {
    ($Input:ident, $prm:literal, $COMMAND:ident, st $st_dword:literal[$st_high:literal], mask $mask:literal;
     $( $(#[$doc:meta])* $given:ident: $type:ty = $kind:ident $args:tt, $index:literal; )*) => {
        impl $Input {
            /// Begins the command for a queue pair of a transport service.
            #[inline]
            pub const fn transition(service: $crate::QpSt) -> $crate::QpTransition<Self> {
                let mut input = Self::new();
                $crate::bits::u8::put(&mut input, $st_dword, $st_high, service.0);
                $crate::QpTransition { input, service, given: 0 }
            }
        }

        impl $crate::Transition for $Input {
            const TRANSITION: &'static $crate::TransitionDesc = match &$COMMAND.transition {
                Some(transition) => transition,
                None => unreachable!(),
            };

            #[inline]
            fn set_mask(&mut self, mask: u32) {
                $crate::bits::u32::put(self, $mask, 31, mask);
            }
        }

        impl $crate::QpTransition<$Input> { $(
            $(#[$doc])*
            ///
            /// # Panics
            /// The value does not fit the field.
            #[inline]
            #[track_caller]
            pub const fn $given(mut self, value: $type) -> Self {
                give! { $prm, $Input, self, value, $kind $args, $index };
                self.given |= 1 << $index;
                self
            }
        )* }
    };
}

/// Writes one field of a QP transition. What was given before inside of a layout stays.
#[allow(unused_macros)] // by families that have none
macro_rules! give {
    ($prm:literal, $Input:ident, $self:expr, $value:expr, nested $args:tt, $index:literal) => {
        let before = $self.input;
        put! { $prm, (&mut $self.input), $value, nested $args };
        $crate::transition::keep(
            const { &$crate::QpTransition::<$Input>::COUNTED },
            $self.given,
            $index,
            &before.bytes,
            &mut $self.input.bytes,
        );
    };
    ($prm:literal, $Input:ident, $self:expr, $value:expr, $kind:ident $args:tt, $index:literal) => {
        put! { $prm, (&mut $self.input), $value, $kind $args };
    };
}

/// Sets the field that says which mask counts, where there are several: `op_mod` for most.
#[allow(unused_macros)] // by families that have none
macro_rules! variant {
    ($prm:literal () $to:expr) => {};
    ($prm:literal ($name:literal $dword:literal[$high:literal:$low:literal] = $value:literal, $mask:literal[$first:literal:$last:literal]) $to:expr) => {
        $crate::bits::variant(
            $to,
            ($prm, $name),
            ($dword, $high, $low),
            $value,
            ($mask, $first, $last),
        )
    };
}

/// Writes one field, wherever it lies in the layout.
#[allow(unused_macros)] // by families that have none
macro_rules! put {
    ($prm:expr, $to:expr, $value:expr, bits($raw:ident $name:literal $dword:literal[$high:literal:$low:literal])) => {
        $crate::bits::$raw::set($to, $dword, $high, $low, $value, ($prm, $name))
    };
    ($prm:expr, $to:expr, $value:expr, full($raw:ident $name:literal $dword:literal[$high:literal:$low:literal])) => {
        $crate::bits::$raw::put($to, $dword, $high, $value)
    };
    ($prm:expr, $to:expr, $value:expr, flag($dword:literal[$bit:literal])) => {
        $crate::bits::set_flag($to, $dword, $bit, $value)
    };
    ($prm:expr, $to:expr, $value:expr, coded $args:tt) => {
        put!($prm, $to, $value.0, bits $args)
    };
    ($prm:expr, $to:expr, $value:expr, coded_full $args:tt) => {
        put!($prm, $to, $value.0, full $args)
    };
    ($prm:expr, $to:expr, $value:expr, flags $args:tt) => {
        put!($prm, $to, $value.into_bits(), bits $args)
    };
    ($prm:expr, $to:expr, $value:expr, flags_full $args:tt) => {
        put!($prm, $to, $value.into_bits(), full $args)
    };
    ($prm:expr, $to:expr, $value:expr, flags_quad $args:tt) => {
        put!($prm, $to, $value.into_bits(), quad $args)
    };
    ($prm:expr, $to:expr, $value:expr, number($name:literal $dword:literal[$high:literal:$low:literal])) => {
        $crate::bits::put($to, $dword, $high, $low, $value.get())
    };
    ($prm:expr, $to:expr, $value:expr, quad($at:literal)) => {
        $crate::bits::set_quad($to, $at, $value)
    };
    ($prm:expr, $to:expr, $value:expr, wide($name:literal $at:literal $width:literal)) => {
        $crate::bits::set_wide_checked(&mut $to.bytes, $at, $width, $value as u128, ($prm, $name))
    };
    ($prm:expr, $to:expr, $value:expr, nested($at:literal)) => {
        $crate::bits::set_nested($to, $at, &$value)
    };
    ($prm:expr, $to:expr, $value:expr, view($type:ty, $at:literal, $size:literal)) => {
        $crate::bits::set_part::<$type, $at, $size>(&mut $to.bytes, &$value)
    };
}

/// A register: its name, its id, and what can be done to it.
#[allow(unused_macros)] // by families that have none
macro_rules! register {
    ($Layout:ident, $name:literal $id:literal $($access:ident)*) => {
        impl $crate::Register for $Layout {
            const REGISTER: &'static $crate::RegisterDesc = &$crate::RegisterDesc {
                name: $name,
                id: $id,
                layout: <$Layout as $crate::Described>::DESC,
                read: register!(@ read $($access)*),
                write: register!(@ write $($access)*),
            };
        }
        $( register!(@@ $access $Layout); )*
    };
    (@ read read $($rest:ident)*) => { true };
    (@ write write) => { true };
    (@ write read write) => { true };
    (@ $($rest:ident)*) => { false };
    (@@ read $Layout:ident) => { impl $crate::ReadRegister for $Layout {} };
    (@@ write $Layout:ident) => { impl $crate::WriteRegister for $Layout {} };
}

/// What lies behind the header of commands on general objects.
#[allow(unused_macros)] // by families that have none
macro_rules! general_object {
    ($Layout:ident, $name:literal $type:literal, selects $selects:expr, $about:literal) => {
        impl $crate::GeneralObject for $Layout {
            const GENERAL: &'static $crate::GeneralObjectDesc = &$crate::GeneralObjectDesc {
                name: $name,
                obj_type: $crate::ObjectType($type),
                layout: <$Layout as $crate::Described>::DESC,
                selects: $selects,
                about: $about,
            };
        }
    };
}

/// The pages of capabilities.
#[allow(unused_macros)] // where their family is not compiled in
macro_rules! pages {
    ($( $Name:ident: $Layout:ident = $name:literal $selector:literal, $about:literal; )*) => { $(
        #[doc = $about]
        #[derive(Debug, Clone, Copy)]
        pub enum $Name {}

        impl $crate::CapabilityPage for $Name {
            type Layout = super::$Layout;
            const PAGE: &'static $crate::PageDesc = &$crate::PageDesc {
                name: $name,
                selector: $selector,
                layout: <super::$Layout as $crate::Described>::DESC,
                about: $about,
            };
        }
    )*

        /// Every page, by its number.
        pub const PAGES: &[&$crate::PageDesc] =
            &[ $( <$Name as $crate::CapabilityPage>::PAGE ),* ];
    };
}

/// Capabilities of one bit: the page's number, and the bit's place in it.
#[allow(unused_macros)] // where their family is not compiled in
macro_rules! caps {
    ($( $(#[$doc:meta])* $NAME:ident = $path:literal $selector:literal $dword:literal[$bit:literal]; )*) => {
        impl $crate::Cap {
            $(
                $(#[$doc])*
                pub const $NAME: Self = $crate::Cap {
                    path: $path,
                    selector: $selector,
                    bit: $dword * 8 + 31 - $bit,
                };
            )*
        }

        /// Every capability of one bit.
        pub const CAPS: &[$crate::Cap] = &[ $( $crate::Cap::$NAME ),* ];
    };
}

/// A command whose object is known.
#[allow(unused_macros)] // by families that have none
macro_rules! command {
    ($Input:ident, $verb:ident $Object:ident, $static:ident, $desc:expr) => {
        static $static: $crate::CommandDesc = $desc;

        impl $crate::Command for $Input {
            const COMMAND: &'static $crate::CommandDesc = &$static;
            type Object = $crate::object::$Object;
        }
        command!(@ $verb $Input);
    };
    // An object without a number.
    (@ OnlyCreate $Input:ident) => {};
    (@ OnlyModify $Input:ident) => {};
    (@ OnlyQuery $Input:ident) => {};
    (@ OnlyDestroy $Input:ident) => {};
    (@ Create $Input:ident) => {
        impl $crate::Creates for $Input {}
    };
    (@ Destroy $Input:ident) => {
        impl $crate::OnObject for $Input {}
    };
    (@ $verb:ident $Input:ident) => {
        impl $crate::OnObject for $Input {}
        impl $crate::$verb for $Input {}
    };
}
