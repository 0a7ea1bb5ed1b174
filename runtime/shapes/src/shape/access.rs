//! Reaching into typed values by table: with the pointers that tables keep (`slot`) the only `unsafe` code of the
//! workspace.
//!
//! Why unsafe: a safe generated visitor per struct costs two to three times the compile time and code size of
//! a table of offsets, and there are thousands of structs. Why sound: a [`Field`] can only be made by
//! [`crate::field!`], which takes the offset and the type from the same Rust field of the same struct, and a
//! [`StructShape`] only here and from fields of its own struct; everything else here is reached through function
//! pointers that were instantiated with the right Rust type. The rest of the crate sees the cursors
//! [`StructRef`], [`StructMut`] and their parts, which are safe.
#![allow(unsafe_code)]

use std::marker::PhantomData;

use super::field::{FieldOf, Json, Shaped, StringEnum};
use super::slot::{EnumAccess, Get, Put, StructAccess, get_option, put_option};
use super::table::{EnumShape, Field, ListShape, MapShape, Semantic, StructShape, Type};

impl StructShape {
    /// The shape of `S`, from its own fields.
    pub const fn of<S: Shaped>(name: &'static str, fields: &'static [FieldOf<S>]) -> Self {
        Self {
            name,
            fields: erase(fields),
            semantic: Semantic::Plain,
            one_of: None,
            descriptions: &[],
            access: StructAccess::of::<S>(),
        }
    }
}

impl EnumShape {
    /// The shape of `T`.
    pub const fn of<T: StringEnum>(name: &'static str, values: &'static [&'static str]) -> Self {
        Self {
            name,
            values,
            access: EnumAccess::of::<T>(),
        }
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

/// A struct of any shape on the heap, all fields absent at first: the Rust type without naming it.
pub struct AnyStruct {
    /// An `Option<Box<T>>` that is `Some`, of the shape's type. Its size is that of a pointer for every sized
    /// `T`, with all bits zero for `None` (documented representation of `Option<Box<T>>`).
    slot: *mut u8,
    shape: &'static StructShape,
}

impl AnyStruct {
    /// A new struct of this shape.
    pub fn new(shape: &'static StructShape) -> Self {
        let mut slot: *mut u8 = std::ptr::null_mut();
        // SAFETY: a null pointer is `None` for the `Option<Box<T>>` that the shape's functions work on.
        unsafe { (shape.access.put)(std::ptr::from_mut(&mut slot).cast()) };
        Self { slot, shape }
    }

    /// A cursor for reading.
    pub fn view(&self) -> StructRef<'_> {
        // SAFETY: the slot is the shape's `Option<Box<T>>`, alive as long as `self`.
        let pointer = unsafe { (self.shape.access.get)(std::ptr::from_ref(&self.slot).cast()) };
        StructRef {
            pointer,
            shape: self.shape,
            lifetime: PhantomData,
        }
    }

    /// A cursor for writing.
    pub fn view_mut(&mut self) -> StructMut<'_> {
        StructMut {
            // A box is its pointer, so the slot's content is the pointer to the struct itself.
            pointer: self.slot,
            shape: self.shape,
            lifetime: PhantomData,
        }
    }
}

impl Drop for AnyStruct {
    fn drop(&mut self) {
        // SAFETY: the slot is the shape's `Option<Box<T>>`; it is not used again.
        unsafe { (self.shape.access.clear)(std::ptr::from_mut(&mut self.slot).cast()) };
    }
}

/// Read access to a struct of any shape.
#[derive(Clone, Copy)]
pub struct StructRef<'a> {
    pointer: *const u8,
    shape: &'static StructShape,
    lifetime: PhantomData<&'a u8>,
}

impl<'a> StructRef<'a> {
    /// A cursor on a typed struct.
    pub fn new<T: Shaped>(value: &'a T) -> Self {
        Self {
            pointer: std::ptr::from_ref(value).cast(),
            shape: T::shape(),
            lifetime: PhantomData,
        }
    }

    /// The struct's shape.
    pub fn shape(&self) -> &'static StructShape {
        self.shape
    }

    /// The fields that are set, in declaration order.
    pub fn fields(self) -> impl Iterator<Item = (&'static Field, ValueRef<'a>)> {
        self.shape.fields.iter().filter_map(move |field| {
            // SAFETY: the field belongs to this shape, so its offset lies within the struct.
            let slot = unsafe { self.pointer.add(field.offset) };
            // SAFETY: the slot is an `Option` of the field's type.
            let value = unsafe { (slot_functions(field.ty).1)(slot) };
            (!value.is_null()).then(|| (field, view(value, field.ty)))
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
    shape: &'static ListShape,
    lifetime: PhantomData<&'a u8>,
}

impl<'a> ListRef<'a> {
    /// The items in order.
    pub fn items(self) -> impl ExactSizeIterator<Item = ValueRef<'a>> {
        // SAFETY: the pointer is a live `Vec` of the shape's item type for `'a`.
        let length = unsafe { (self.shape.access.len)(self.pointer) };
        (0..length).map(move |index| {
            // SAFETY: as above, and the index is below the length.
            view(
                unsafe { (self.shape.access.at)(self.pointer, index) },
                self.shape.item,
            )
        })
    }
}

/// Read access to a map.
#[derive(Clone, Copy)]
pub struct MapRef<'a> {
    pointer: *const u8,
    shape: &'static MapShape,
    lifetime: PhantomData<&'a u8>,
}

impl<'a> MapRef<'a> {
    /// The entries in order of key.
    pub fn entries(self) -> Vec<(&'a str, ValueRef<'a>)> {
        let mut entries = Vec::new();
        // SAFETY: the pointer is a live map of the shape's value type for `'a`; so are its keys and values.
        unsafe {
            (self.shape.access.each)(self.pointer, &mut |key, value| {
                entries.push((&*key, view(value, self.shape.value)));
            });
        }
        entries
    }
}

fn slot_functions(ty: Type) -> (Put, Get) {
    match ty {
        Type::Bool => (put_option::<bool>, get_option::<bool>),
        Type::Integer(_) => (put_option::<i64>, get_option::<i64>),
        Type::Number => (put_option::<f64>, get_option::<f64>),
        Type::String => (put_option::<String>, get_option::<String>),
        Type::Json => (put_option::<Json>, get_option::<Json>),
        Type::Enum(shape) => (shape.access.put, shape.access.get),
        Type::Struct(shape) => (shape.access.put, shape.access.get),
        Type::List(shape) => (shape.access.put, shape.access.get),
        Type::Map(shape) => (shape.access.put, shape.access.get),
    }
}

/// `pointer` must be a live value of `ty` for `'a`; private, so the callers above are all there are.
fn view<'a>(pointer: *const u8, ty: Type) -> ValueRef<'a> {
    let lifetime = PhantomData;
    // SAFETY: the caller's promise, for each type.
    unsafe {
        match ty {
            Type::Bool => ValueRef::Bool(*pointer.cast()),
            Type::Integer(_) => ValueRef::Integer(*pointer.cast()),
            Type::Number => ValueRef::Number(*pointer.cast()),
            Type::String => ValueRef::String((*pointer.cast::<String>()).as_str()),
            Type::Json => ValueRef::Json(&*pointer.cast::<Json>()),
            Type::Enum(shape) => ValueRef::String(&*(shape.access.text)(pointer)),
            Type::Struct(shape) => ValueRef::Struct(StructRef {
                pointer,
                shape,
                lifetime,
            }),
            Type::List(shape) => ValueRef::List(ListRef {
                pointer,
                shape,
                lifetime,
            }),
            Type::Map(shape) => ValueRef::Map(MapRef {
                pointer,
                shape,
                lifetime,
            }),
        }
    }
}

/// Write access to a struct of any shape.
pub struct StructMut<'a> {
    pointer: *mut u8,
    shape: &'static StructShape,
    lifetime: PhantomData<&'a mut u8>,
}

impl<'a> StructMut<'a> {
    /// A cursor on a typed struct.
    pub fn new<T: Shaped>(value: &'a mut T) -> Self {
        Self {
            pointer: std::ptr::from_mut(value).cast(),
            shape: T::shape(),
            lifetime: PhantomData,
        }
    }

    /// The struct's shape.
    pub fn shape(&self) -> &'static StructShape {
        self.shape
    }

    /// Sets the field at this index of the shape to its type's default and returns a cursor on the value.
    ///
    /// # Panics
    /// If the shape has no field at the index.
    pub fn put(&mut self, index: usize) -> ValueMut<'_> {
        let field = &self.shape.fields[index];
        // SAFETY: the field belongs to this shape, so its offset lies within the struct, and the slot is an
        // `Option` of the field's type.
        let value = unsafe { (slot_functions(field.ty).0)(self.pointer.add(field.offset)) };
        ValueMut {
            pointer: value,
            ty: field.ty,
            lifetime: PhantomData,
        }
    }
}

/// Write access to one value.
pub struct ValueMut<'a> {
    pointer: *mut u8,
    ty: Type,
    lifetime: PhantomData<&'a mut u8>,
}

impl<'a> ValueMut<'a> {
    /// The typed view on the value.
    pub fn view(self) -> ViewMut<'a> {
        let (pointer, lifetime) = (self.pointer, PhantomData);
        // SAFETY: the pointer is a live value of the type, borrowed mutably for `'a`.
        unsafe {
            match self.ty {
                Type::Bool => ViewMut::Bool(&mut *pointer.cast()),
                Type::Integer(_) => ViewMut::Integer(&mut *pointer.cast()),
                Type::Number => ViewMut::Number(&mut *pointer.cast()),
                Type::String => ViewMut::String(&mut *pointer.cast()),
                Type::Json => ViewMut::Json(&mut *pointer.cast()),
                Type::Enum(shape) => ViewMut::Enum(EnumMut {
                    pointer,
                    access: shape.access,
                    lifetime,
                }),
                Type::Struct(shape) => ViewMut::Struct(StructMut {
                    pointer,
                    shape,
                    lifetime,
                }),
                Type::List(shape) => ViewMut::List(ListMut {
                    pointer,
                    shape,
                    lifetime,
                }),
                Type::Map(shape) => ViewMut::Map(MapMut {
                    pointer,
                    shape,
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
    access: EnumAccess,
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
    shape: &'static ListShape,
    lifetime: PhantomData<&'a mut u8>,
}

impl ListMut<'_> {
    /// The list's shape.
    pub fn shape(&self) -> &'static ListShape {
        self.shape
    }

    /// Appends a default item and returns a cursor on it.
    pub fn push(&mut self) -> ValueMut<'_> {
        // SAFETY: the pointer is a live `Vec` of the shape's item type, borrowed mutably.
        let item = unsafe { (self.shape.access.push)(self.pointer) };
        ValueMut {
            pointer: item,
            ty: self.shape.item,
            lifetime: PhantomData,
        }
    }
}

/// Write access to a map.
pub struct MapMut<'a> {
    pointer: *mut u8,
    shape: &'static MapShape,
    lifetime: PhantomData<&'a mut u8>,
}

impl MapMut<'_> {
    /// The map's shape.
    pub fn shape(&self) -> &'static MapShape {
        self.shape
    }

    /// Inserts a default value and returns a cursor on it.
    pub fn insert(&mut self, key: &str) -> ValueMut<'_> {
        // SAFETY: the pointer is a live map of the shape's value type, borrowed mutably.
        let value = unsafe { (self.shape.access.insert)(self.pointer, key) };
        ValueMut {
            pointer: value,
            ty: self.shape.value,
            lifetime: PhantomData,
        }
    }
}

#[cfg(test)]
mod tests;
