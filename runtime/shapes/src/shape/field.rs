//! How generated and handwritten code writes tables: [`shaped!`](crate::shaped), [`string_enum!`](crate::string_enum)
//! and the traits that tie a Rust type to its [`Type`].

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::marker::PhantomData;

use super::slot::{Access, ListAccess, MapAccess, StructAccess};
use super::table::{
    ArmPlace, EnumShape, Field, Flags, IntegerFormat, ListShape, MapShape, OneOf, Rules, Semantic,
    StructShape, Type,
};

/// Any JSON, kept as it is. The default is `null`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Json(pub serde_json::Value);

/// A Rust type that can be the value of a field.
pub trait FieldValue: 'static {
    /// The type's entry in shapes.
    const TYPE: Type;
    /// How to reach a value of it.
    const ACCESS: Access;
}

/// A struct with a shape. Implemented by generated code and by [`crate::resource`].
///
/// Fields of the struct are all `Option`; `Default` is all `None`.
pub trait Shaped: Default + Clone + 'static {
    /// The table. Made with [`StructShape::of`].
    const SHAPE: &'static StructShape;
    /// How the codec reaches into a value. Made with [`StructAccess::of`].
    const ACCESS: &'static StructAccess;

    /// The table, where a function is easier to name than a constant.
    fn shape() -> &'static StructShape {
        Self::SHAPE
    }
}

/// A newtype over a string with known values. Implemented by [`string_enum!`](crate::string_enum).
pub trait StringEnum: Default + Clone + 'static {
    /// The table.
    const SHAPE: &'static EnumShape;
    /// From text, known or not.
    fn from_text(text: &str) -> Self;
    /// As text.
    fn as_text(&self) -> &str;
}

impl FieldValue for bool {
    const TYPE: Type = Type::Bool;
    const ACCESS: Access = Access::Bool;
}
impl FieldValue for i64 {
    const TYPE: Type = Type::Integer(IntegerFormat::Plain);
    const ACCESS: Access = Access::Integer;
}
impl FieldValue for f64 {
    const TYPE: Type = Type::Number;
    const ACCESS: Access = Access::Number;
}
impl FieldValue for String {
    const TYPE: Type = Type::String;
    const ACCESS: Access = Access::String;
}
impl FieldValue for Json {
    const TYPE: Type = Type::Json;
    const ACCESS: Access = Access::Json;
}
impl<T: Shaped> FieldValue for Box<T> {
    const TYPE: Type = Type::Struct(T::SHAPE);
    const ACCESS: Access = Access::Struct(T::ACCESS);
}

/// A Rust type that can be an item of a list or a value of a map: as [`FieldValue`], but structs stand bare.
pub trait ItemValue: Default + 'static {
    /// The type's entry in shapes.
    const TYPE: Type;
    /// How to reach a value of it.
    const ACCESS: Access;
}

impl ItemValue for bool {
    const TYPE: Type = Type::Bool;
    const ACCESS: Access = Access::Bool;
}
impl ItemValue for i64 {
    const TYPE: Type = Type::Integer(IntegerFormat::Plain);
    const ACCESS: Access = Access::Integer;
}
impl ItemValue for f64 {
    const TYPE: Type = Type::Number;
    const ACCESS: Access = Access::Number;
}
impl ItemValue for String {
    const TYPE: Type = Type::String;
    const ACCESS: Access = Access::String;
}
impl ItemValue for Json {
    const TYPE: Type = Type::Json;
    const ACCESS: Access = Access::Json;
}
impl<T: Shaped> ItemValue for T {
    const TYPE: Type = Type::Struct(T::SHAPE);
    const ACCESS: Access = Access::Struct(T::ACCESS);
}
impl<T: ItemValue> ItemValue for Vec<T> {
    const TYPE: Type = Type::List(&ListShape { item: T::TYPE });
    const ACCESS: Access = Access::List(&ListAccess::of::<T>(T::ACCESS));
}
impl<T: ItemValue> ItemValue for BTreeMap<String, T> {
    const TYPE: Type = Type::Map(&MapShape { value: T::TYPE });
    const ACCESS: Access = Access::Map(&MapAccess::of::<T>(T::ACCESS));
}
impl<T: ItemValue> FieldValue for Vec<T> {
    const TYPE: Type = <Self as ItemValue>::TYPE;
    const ACCESS: Access = <Self as ItemValue>::ACCESS;
}
impl<T: ItemValue> FieldValue for BTreeMap<String, T> {
    const TYPE: Type = <Self as ItemValue>::TYPE;
    const ACCESS: Access = <Self as ItemValue>::ACCESS;
}

/// A [`Field`] of the struct `S`; keeps the fields of one struct out of another's shape.
#[repr(transparent)]
#[derive(Clone, Copy, Debug)]
pub struct FieldOf<S> {
    field: Field,
    owner: PhantomData<fn(&S)>,
}

impl<S> FieldOf<S> {
    /// Only for [`field!`](crate::field), which takes `probe` from the Rust field.
    #[doc(hidden)]
    pub const fn from_macro<F: FieldValue>(
        name: &'static str,
        _probe: fn(&S) -> &Option<F>,
    ) -> Self {
        let field = Field {
            name,
            arm: ArmPlace::Operator,
            ty: F::TYPE,
            flags: Flags::NONE,
            rules: &Rules::NONE,
            item_rules: &Rules::NONE,
            identifiers: &[],
        };
        Self {
            field,
            owner: PhantomData,
        }
    }

    /// Member names in ARM from the enclosing object down.
    pub const fn at(mut self, path: &'static [&'static str]) -> Self {
        self.field.arm = ArmPlace::At(path);
        self
    }

    /// A variant: its members are those of the enclosing ARM object.
    pub const fn variant(mut self) -> Self {
        self.field.arm = ArmPlace::Variant;
        self
    }

    /// What an ARM object has beside its known members: names from the enclosing object down to that one.
    ///
    /// # Panics
    /// At compile time, if the field is no map.
    pub const fn further(mut self, path: &'static [&'static str]) -> Self {
        assert!(
            matches!(self.field.ty, Type::Map(_)),
            "only a map holds further members"
        );
        self.field.arm = ArmPlace::Further(path);
        self
    }

    /// Adds flags.
    pub const fn flags(mut self, flags: Flags) -> Self {
        self.field.flags = self.field.flags.with(flags);
        self
    }

    /// Must be present in Kubernetes: [`Flags::REQUIRED`].
    pub const fn required(self) -> Self {
        self.flags(Flags::REQUIRED)
    }

    /// Set by ARM, never sent: [`Flags::READ_ONLY`].
    pub const fn read_only(self) -> Self {
        self.flags(Flags::READ_ONLY)
    }

    /// Never returned by ARM: [`Flags::WRITE_ONLY`].
    pub const fn write_only(self) -> Self {
        self.flags(Flags::WRITE_ONLY)
    }

    /// Names no resource, whatever it looks like: [`Flags::FREE_TEXT`].
    pub const fn free_text(self) -> Self {
        self.flags(Flags::FREE_TEXT)
    }

    /// Can be set only on creation: [`Flags::CREATE_ONLY`].
    pub const fn create_only(self) -> Self {
        self.flags(Flags::CREATE_ONLY)
    }

    /// Never shown: [`Flags::SECRET`].
    pub const fn secret(self) -> Self {
        self.flags(Flags::SECRET)
    }

    /// An ARM id in ARM: [`Flags::ARM_ID`].
    pub const fn arm_id(self) -> Self {
        self.flags(Flags::ARM_ID)
    }

    /// An Azure location: [`Flags::LOCATION`].
    pub const fn location(self) -> Self {
        self.flags(Flags::LOCATION)
    }

    /// Sent as `null` when absent: [`Flags::EXPLICIT`].
    pub const fn explicit(self) -> Self {
        self.flags(Flags::EXPLICIT)
    }

    /// Sent empty when absent: [`Flags::EXPLICIT_EMPTY`].
    pub const fn explicit_empty(self) -> Self {
        self.flags(Flags::EXPLICIT_EMPTY)
    }

    /// Kept in the property bag when stored: [`Flags::STASHED`].
    pub const fn stashed(self) -> Self {
        self.flags(Flags::STASHED)
    }

    /// Constraints of the value.
    pub const fn rules(mut self, rules: &'static Rules) -> Self {
        self.field.rules = rules;
        self
    }

    /// Constraints of the innermost item.
    pub const fn item_rules(mut self, rules: &'static Rules) -> Self {
        self.field.item_rules = rules;
        self
    }

    /// Names of the item fields that identify an item.
    pub const fn identifiers(mut self, names: &'static [&'static str]) -> Self {
        self.field.identifiers = names;
        self
    }

    /// An integer of 32 bits, which its constraints say as well.
    pub const fn int32(self) -> Self {
        const RULES: &Rules = &Rules {
            format: Some("int32"),
            ..Rules::NONE
        };
        self.integer(IntegerFormat::Int32).rules(RULES)
    }

    /// An integer of 64 bits, which its constraints say as well.
    pub const fn int64(self) -> Self {
        const RULES: &Rules = &Rules {
            format: Some("int64"),
            ..Rules::NONE
        };
        self.integer(IntegerFormat::Int64).rules(RULES)
    }

    /// Width of an integer field; `i64` alone says [`IntegerFormat::Plain`].
    ///
    /// # Panics
    /// At compile time, if the field is no integer.
    pub const fn integer(mut self, format: IntegerFormat) -> Self {
        assert!(
            matches!(self.field.ty, Type::Integer(_)),
            "only an integer field has an integer format"
        );
        self.field.ty = Type::Integer(format);
        self
    }
}

impl StructShape {
    /// The same shape with another meaning.
    pub const fn meaning(mut self, semantic: Semantic) -> Self {
        self.semantic = semantic;
        self
    }

    /// The same shape with the spec's own text about fields, by JSON name; about the struct under the empty name.
    pub const fn described(mut self, texts: &'static [(&'static str, &'static str)]) -> Self {
        self.descriptions = texts;
        self
    }

    /// The same shape, of which exactly one variant is set.
    pub const fn one_of(mut self, one_of: OneOf) -> Self {
        self.one_of = Some(one_of);
        self
    }
}

/// Text of an enum: borrowed for known members, owned for others.
pub type EnumText = Cow<'static, str>;

/// One entry of a shape: `field!(Struct, rust_name, "jsonName")`, followed by builder calls of
/// [`FieldOf`](crate::shape::FieldOf).
#[macro_export]
macro_rules! field {
    ($owner:ty, $member:ident, $name:literal) => {
        $crate::shape::FieldOf::<$owner>::from_macro($name, |value| &value.$member)
    };
}

/// How to reach one field: `access!(Struct, rust_name)`, in the order of the shape's fields.
#[macro_export]
macro_rules! access {
    ($owner:ty, $member:ident) => {
        $crate::shape::AccessOf::<$owner>::from_macro(
            ::core::mem::offset_of!($owner, $member),
            |value| &value.$member,
        )
    };
}

/// A struct with its shape: `shaped! { /// docs Name { /// docs member: Type = "jsonName"; … } }`.
///
/// Every field becomes an `Option`. A name may be followed by builder calls: the struct's by those of
/// [`StructShape`](crate::shape::StructShape), a field's JSON name by those of [`FieldOf`](crate::shape::FieldOf).
///
/// ```
/// use armature_shapes::shape::{Shaped, check, decode, encode};
/// use armature_shapes::shaped;
/// use serde_json::json;
///
/// shaped! {
///     /// Spec of a store.
///     StoreSpec {
///         /// Where it is.
///         location: String = "location".at(&["location"]).required();
///         /// How much it holds.
///         capacity: i64 = "capacity".at(&["properties", "capacity"]);
///     }
/// }
///
/// let written = json!({"location": "westus", "capacity": 5});
/// let store: StoreSpec = decode(&written).unwrap();
/// assert_eq!(store.capacity, Some(5));
/// assert_eq!(encode(&store), written);
///
/// // The shape knows what the struct does not say.
/// let problems = check(StoreSpec::SHAPE, &json!({"capacity": 5}), "spec");
/// assert_eq!(problems.len(), 1, "the location is missing");
/// ```
#[macro_export]
macro_rules! shaped {
    (
        $(#[$attribute:meta])*
        $name:ident $(. $modifier:ident ($($value:expr),*))* {
            $(
                $(#[$field_attribute:meta])*
                $member:ident: $ty:ty = $json:literal $(. $method:ident ($($argument:expr),*))*;
            )*
        }
    ) => {
        $(#[$attribute])*
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct $name {
            $($(#[$field_attribute])* pub $member: ::core::option::Option<$ty>,)*
        }

        impl $crate::shape::Shaped for $name {
            const SHAPE: &'static $crate::shape::StructShape = {
                static FIELDS: &[$crate::shape::FieldOf<$name>] =
                    &[$($crate::field!($name, $member, $json) $(. $method ($($argument),*))*),*];
                static SHAPE: $crate::shape::StructShape =
                    $crate::shape::StructShape::of(stringify!($name), FIELDS) $(. $modifier ($($value),*))*;
                &SHAPE
            };
            const ACCESS: &'static $crate::shape::StructAccess = &$crate::shape::StructAccess::of::<$name>(
                &[$($crate::access!($name, $member)),*],
            );
        }
    };
}

/// A string type with known values: `string_enum! { /// docs Name { MEMBER = "Text", … } }`, or `Name closed { … }` where a
/// manifest may have no other ones.
///
/// Values outside the list are kept as they are, because Azure adds members without a new api-version.
#[macro_export]
macro_rules! string_enum {
    ($(#[$attribute:meta])* $name:ident $($closed:ident)? { $($member:ident = $text:literal),* $(,)? }) => {
        $(#[$attribute])*
        #[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub $crate::shape::EnumText);

        impl $name {
            $(
                #[doc = concat!("`", $text, "`")]
                pub const $member: Self = Self(::std::borrow::Cow::Borrowed($text));
            )*

            /// The text as ARM has it.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl $crate::shape::StringEnum for $name {
            const SHAPE: &'static $crate::shape::EnumShape = {
                static SHAPE: $crate::shape::EnumShape =
                    $crate::shape::EnumShape::of(stringify!($name), &[$($text),*]) $(. $closed())?;
                &SHAPE
            };
            fn from_text(text: &str) -> Self {
                Self(::std::borrow::Cow::Owned(text.to_owned()))
            }
            fn as_text(&self) -> &str {
                &self.0
            }
        }

        impl $crate::shape::FieldValue for $name {
            const TYPE: $crate::shape::Type =
                $crate::shape::Type::Enum(<Self as $crate::shape::StringEnum>::SHAPE);
            const ACCESS: $crate::shape::Access =
                $crate::shape::Access::Enum(&$crate::shape::EnumAccess::of::<Self>());
        }

        impl $crate::shape::ItemValue for $name {
            const TYPE: $crate::shape::Type =
                $crate::shape::Type::Enum(<Self as $crate::shape::StringEnum>::SHAPE);
            const ACCESS: $crate::shape::Access =
                $crate::shape::Access::Enum(&$crate::shape::EnumAccess::of::<Self>());
        }
    };
}
