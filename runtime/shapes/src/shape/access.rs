//! Reaching into typed values by table: with the pointers that tables keep (`slot`) the only `unsafe` code of the
//! workspace.
//!
//! Why unsafe: a safe generated visitor per struct costs two to three times the compile time and code size of
//! a table of offsets, and there are thousands of structs. Why sound: an [`AccessOf`] can only be made by
//! [`crate::access!`], which takes the offset and the type from the same Rust field of the same struct, and a
//! [`StructAccess`] only here and from fields of its own struct; everything else here is reached through function
//! pointers that were instantiated with the right Rust type. What a shape says is data to all of this: names, and how many
//! fields there are. The rest of the crate sees the cursors [`StructRef`], [`StructMut`] and their parts, which are safe.
#![allow(unsafe_code)]

use std::marker::PhantomData;

use super::field::{FieldOf, FieldValue, Json, Shaped, StringEnum};
use super::slot::{
    Access, AccessOf, EnumAccess, FieldAccess, Get, ListAccess, MapAccess, Put, StructAccess,
    get_option, put_option,
};
use super::table::{EnumShape, Field, Semantic, StructShape};

impl StructShape {
    /// The shape of `S`, from its own fields.
    pub const fn of<S: Shaped>(name: &'static str, fields: &'static [FieldOf<S>]) -> Self {
        Self {
            name,
            fields: erase(fields),
            semantic: Semantic::Plain,
            one_of: None,
            descriptions: &[],
        }
    }
}

impl EnumShape {
    /// The shape of a newtype over a string that takes other values, too.
    pub const fn of(name: &'static str, values: &'static [&'static str]) -> Self {
        Self {
            name,
            values,
            is_closed: false,
        }
    }

    /// The same without other values.
    pub const fn closed(self) -> Self {
        Self {
            is_closed: true,
            ..self
        }
    }
}

impl<S> AccessOf<S> {
    /// Only for [`access!`](crate::access), which takes `offset` and `probe` from the same Rust field.
    #[doc(hidden)]
    pub const fn from_macro<F: FieldValue>(offset: usize, _probe: fn(&S) -> &Option<F>) -> Self {
        Self {
            field: FieldAccess {
                offset,
                access: F::ACCESS,
            },
            owner: PhantomData,
        }
    }
}

impl StructAccess {
    /// Access for the struct `S`, by its own fields in the order of its shape.
    pub const fn of<S: Shaped>(fields: &'static [AccessOf<S>]) -> Self {
        // SAFETY: `AccessOf<S>` is `repr(transparent)` over `FieldAccess`, so the slices have the same layout.
        let fields = unsafe {
            std::slice::from_raw_parts(fields.as_ptr().cast::<FieldAccess>(), fields.len())
        };
        Self::with::<S>(S::SHAPE, fields)
    }
}

impl EnumAccess {
    /// Access for the enum `T`.
    pub const fn of<T: StringEnum>() -> Self {
        unsafe fn set<T: StringEnum>(value: *mut u8, text: &str) {
            // SAFETY: callers pass a pointer to a live `T`.
            unsafe { *value.cast::<T>() = T::from_text(text) }
        }
        unsafe fn text<T: StringEnum>(value: *const u8) -> *const str {
            // SAFETY: callers pass a pointer to a live `T` and tie the result to its lifetime.
            std::ptr::from_ref(unsafe { &*value.cast::<T>() }.as_text())
        }
        Self {
            put: put_option::<T>,
            get: get_option::<T>,
            set: set::<T>,
            text: text::<T>,
        }
    }
}

/// The fields of one struct without the mark of whose they are.
const fn erase<S>(fields: &'static [FieldOf<S>]) -> &'static [Field] {
    // SAFETY: `FieldOf<S>` is `repr(transparent)` over `Field`, so the slices have the same layout.
    unsafe { std::slice::from_raw_parts(fields.as_ptr().cast::<Field>(), fields.len()) }
}

/// Read access to a struct of any shape.
#[derive(Clone, Copy)]
pub struct StructRef<'a> {
    pointer: *const u8,
    access: &'static StructAccess,
    lifetime: PhantomData<&'a u8>,
}

impl<'a> StructRef<'a> {
    /// A cursor on a typed struct.
    pub fn new<T: Shaped>(value: &'a T) -> Self {
        Self {
            pointer: std::ptr::from_ref(value).cast(),
            access: T::ACCESS,
            lifetime: PhantomData,
        }
    }

    /// The fields that are set, in declaration order.
    pub fn fields(self) -> impl Iterator<Item = (&'static Field, ValueRef<'a>)> {
        let fields = self.access.shape.fields.iter().zip(self.access.fields);
        fields.filter_map(move |(field, place)| {
            // SAFETY: the field belongs to this struct, so its offset lies within it.
            let slot = unsafe { self.pointer.add(place.offset) };
            // SAFETY: the slot is an `Option` of the field's type.
            let value = unsafe { (slot_functions(place.access).1)(slot) };
            (!value.is_null()).then(|| (field, view(value, place.access)))
        })
    }
}

/// Read access to one value.
pub enum ValueRef<'a> {
    /// A boolean.
    Bool(bool),
    /// An integer.
    Integer(i64),
    /// A number.
    Number(f64),
    /// A string or an enum's text.
    String(&'a str),
    /// Any JSON.
    Json(&'a Json),
    /// A struct.
    Struct(StructRef<'a>),
    /// A list.
    List(ListRef<'a>),
    /// A map.
    Map(MapRef<'a>),
}

/// Read access to a list.
#[derive(Clone, Copy)]
pub struct ListRef<'a> {
    pointer: *const u8,
    access: &'static ListAccess,
    lifetime: PhantomData<&'a u8>,
}

impl<'a> ListRef<'a> {
    /// The items in order.
    pub fn items(self) -> impl ExactSizeIterator<Item = ValueRef<'a>> {
        // SAFETY: the pointer is a live `Vec` of the access's item type for `'a`.
        let length = unsafe { (self.access.len)(self.pointer) };
        (0..length).map(move |index| {
            // SAFETY: as above, and the index is below the length.
            view(
                unsafe { (self.access.at)(self.pointer, index) },
                self.access.item,
            )
        })
    }
}

/// Read access to a map.
#[derive(Clone, Copy)]
pub struct MapRef<'a> {
    pointer: *const u8,
    access: &'static MapAccess,
    lifetime: PhantomData<&'a u8>,
}

impl<'a> MapRef<'a> {
    /// The entries in order of key.
    pub fn entries(self) -> Vec<(&'a str, ValueRef<'a>)> {
        let mut entries = Vec::new();
        // SAFETY: the pointer is a live map of the access's value type for `'a`; so are its keys and values.
        unsafe {
            (self.access.each)(self.pointer, &mut |key, value| {
                entries.push((&*key, view(value, self.access.value)));
            });
        }
        entries
    }
}

fn slot_functions(access: Access) -> (Put, Get) {
    match access {
        Access::Bool => (put_option::<bool>, get_option::<bool>),
        Access::Integer => (put_option::<i64>, get_option::<i64>),
        Access::Number => (put_option::<f64>, get_option::<f64>),
        Access::String => (put_option::<String>, get_option::<String>),
        Access::Json => (put_option::<Json>, get_option::<Json>),
        Access::Enum(access) => (access.put, access.get),
        Access::Struct(access) => (access.put, access.get),
        Access::List(access) => (access.put, access.get),
        Access::Map(access) => (access.put, access.get),
    }
}

/// `pointer` must be a live value of the type for `'a`; private, so the callers above are all there are.
fn view<'a>(pointer: *const u8, access: Access) -> ValueRef<'a> {
    let lifetime = PhantomData;
    // SAFETY: the caller's promise, for each type.
    unsafe {
        match access {
            Access::Bool => ValueRef::Bool(*pointer.cast()),
            Access::Integer => ValueRef::Integer(*pointer.cast()),
            Access::Number => ValueRef::Number(*pointer.cast()),
            Access::String => ValueRef::String((*pointer.cast::<String>()).as_str()),
            Access::Json => ValueRef::Json(&*pointer.cast::<Json>()),
            Access::Enum(access) => ValueRef::String(&*(access.text)(pointer)),
            Access::Struct(access) => ValueRef::Struct(StructRef {
                pointer,
                access,
                lifetime,
            }),
            Access::List(access) => ValueRef::List(ListRef {
                pointer,
                access,
                lifetime,
            }),
            Access::Map(access) => ValueRef::Map(MapRef {
                pointer,
                access,
                lifetime,
            }),
        }
    }
}

/// Write access to a struct of any shape.
pub struct StructMut<'a> {
    pointer: *mut u8,
    access: &'static StructAccess,
    lifetime: PhantomData<&'a mut u8>,
}

impl<'a> StructMut<'a> {
    /// A cursor on a typed struct.
    pub fn new<T: Shaped>(value: &'a mut T) -> Self {
        Self {
            pointer: std::ptr::from_mut(value).cast(),
            access: T::ACCESS,
            lifetime: PhantomData,
        }
    }

    /// The struct's shape.
    pub fn shape(&self) -> &'static StructShape {
        self.access.shape
    }

    /// Sets the field at this index of the shape to its type's default and returns a cursor on the value.
    ///
    /// # Panics
    /// If the shape has no field at the index.
    pub fn put(&mut self, index: usize) -> ValueMut<'_> {
        let place = &self.access.fields[index];
        // SAFETY: the field belongs to this struct, so its offset lies within it, and the slot is an `Option` of the
        // field's type.
        let value = unsafe { (slot_functions(place.access).0)(self.pointer.add(place.offset)) };
        ValueMut {
            pointer: value,
            access: place.access,
            lifetime: PhantomData,
        }
    }
}

/// Write access to one value.
pub struct ValueMut<'a> {
    pointer: *mut u8,
    access: Access,
    lifetime: PhantomData<&'a mut u8>,
}

impl<'a> ValueMut<'a> {
    /// The typed view on the value.
    pub fn view(self) -> ViewMut<'a> {
        let (pointer, lifetime) = (self.pointer, PhantomData);
        // SAFETY: the pointer is a live value of the type, borrowed mutably for `'a`.
        unsafe {
            match self.access {
                Access::Bool => ViewMut::Bool(&mut *pointer.cast()),
                Access::Integer => ViewMut::Integer(&mut *pointer.cast()),
                Access::Number => ViewMut::Number(&mut *pointer.cast()),
                Access::String => ViewMut::String(&mut *pointer.cast()),
                Access::Json => ViewMut::Json(&mut *pointer.cast()),
                Access::Enum(access) => ViewMut::Enum(EnumMut {
                    pointer,
                    access,
                    lifetime,
                }),
                Access::Struct(access) => ViewMut::Struct(StructMut {
                    pointer,
                    access,
                    lifetime,
                }),
                Access::List(access) => ViewMut::List(ListMut {
                    pointer,
                    access,
                    lifetime,
                }),
                Access::Map(access) => ViewMut::Map(MapMut {
                    pointer,
                    access,
                    lifetime,
                }),
            }
        }
    }
}

/// A typed view for writing.
pub enum ViewMut<'a> {
    /// A boolean.
    Bool(&'a mut bool),
    /// An integer.
    Integer(&'a mut i64),
    /// A number.
    Number(&'a mut f64),
    /// A string.
    String(&'a mut String),
    /// Any JSON.
    Json(&'a mut Json),
    /// An enum.
    Enum(EnumMut<'a>),
    /// A struct.
    Struct(StructMut<'a>),
    /// A list.
    List(ListMut<'a>),
    /// A map.
    Map(MapMut<'a>),
}

/// Write access to an enum.
pub struct EnumMut<'a> {
    pointer: *mut u8,
    access: &'static EnumAccess,
    lifetime: PhantomData<&'a mut u8>,
}

impl EnumMut<'_> {
    /// Sets the text.
    pub fn set(&mut self, text: &str) {
        // SAFETY: the pointer is a live value of the enum that the access was made for.
        unsafe { (self.access.set)(self.pointer, text) }
    }
}

/// Write access to a list.
pub struct ListMut<'a> {
    pointer: *mut u8,
    access: &'static ListAccess,
    lifetime: PhantomData<&'a mut u8>,
}

impl ListMut<'_> {
    /// Appends a default item and returns a cursor on it.
    pub fn push(&mut self) -> ValueMut<'_> {
        // SAFETY: the pointer is a live `Vec` of the access's item type, borrowed mutably.
        let item = unsafe { (self.access.push)(self.pointer) };
        ValueMut {
            pointer: item,
            access: self.access.item,
            lifetime: PhantomData,
        }
    }
}

/// Write access to a map.
pub struct MapMut<'a> {
    pointer: *mut u8,
    access: &'static MapAccess,
    lifetime: PhantomData<&'a mut u8>,
}

impl MapMut<'_> {
    /// Inserts a default value and returns a cursor on it.
    pub fn insert(&mut self, key: &str) -> ValueMut<'_> {
        // SAFETY: the pointer is a live map of the access's value type, borrowed mutably.
        let value = unsafe { (self.access.insert)(self.pointer, key) };
        ValueMut {
            pointer: value,
            access: self.access.value,
            lifetime: PhantomData,
        }
    }
}

#[cfg(test)]
mod tests;
