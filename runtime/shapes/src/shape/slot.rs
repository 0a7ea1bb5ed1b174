//! Function pointers into typed values, type by type: beside the shapes, so that a program holds them only of types whose
//! values it reads or writes as Rust structs. The operator does that for few.
//!
//! What goes through them, and why that is sound, is in [`super::access`]; besides it this is the only `unsafe` code of
//! the workspace.
#![allow(unsafe_code)]

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use super::table::StructShape;

/// Makes a slot hold a default value and returns a pointer to the value.
pub(super) type Put = unsafe fn(*mut u8) -> *mut u8;
/// Pointer to the value in a slot, null when the slot is empty.
pub(super) type Get = unsafe fn(*const u8) -> *const u8;

pub(super) unsafe fn put_option<T: Default>(slot: *mut u8) -> *mut u8 {
    // SAFETY: callers pass a pointer to a live `Option<T>`; the table that holds this function says so.
    let slot = unsafe { &mut *slot.cast::<Option<T>>() };
    std::ptr::from_mut(slot.insert(T::default())).cast()
}

pub(super) unsafe fn get_option<T>(slot: *const u8) -> *const u8 {
    // SAFETY: as in `put_option`.
    match unsafe { &*slot.cast::<Option<T>>() } {
        Some(value) => std::ptr::from_ref(value).cast(),
        None => std::ptr::null(),
    }
}

unsafe fn put_boxed<T: Default>(slot: *mut u8) -> *mut u8 {
    // SAFETY: callers pass a pointer to a live `Option<Box<T>>`.
    let slot = unsafe { &mut *slot.cast::<Option<Box<T>>>() };
    std::ptr::from_mut(&mut **slot.insert(Box::default())).cast()
}

unsafe fn get_boxed<T>(slot: *const u8) -> *const u8 {
    // SAFETY: as in `put_boxed`.
    match unsafe { &*slot.cast::<Option<Box<T>>>() } {
        Some(value) => std::ptr::from_ref(&**value).cast(),
        None => std::ptr::null(),
    }
}

/// How to reach a value of one Rust type.
#[derive(Clone, Copy, Debug)]
pub enum Access {
    /// `bool`.
    Bool,
    /// `i64`.
    Integer,
    /// `f64`.
    Number,
    /// `String`.
    String,
    /// [`Json`](crate::shape::Json).
    Json,
    /// A newtype over a string.
    Enum(&'static EnumAccess),
    /// A struct: boxed as a field, bare as an item.
    Struct(&'static StructAccess),
    /// `Vec`.
    List(&'static ListAccess),
    /// `BTreeMap` by strings.
    Map(&'static MapAccess),
}

/// Where a field of a struct is, and how to reach its value.
#[derive(Clone, Copy, Debug)]
pub struct FieldAccess {
    pub(super) offset: usize,
    pub(super) access: Access,
}

/// A [`FieldAccess`] of the struct `S`; keeps the fields of one struct out of another's.
#[repr(transparent)]
#[derive(Clone, Copy, Debug)]
pub struct AccessOf<S> {
    pub(super) field: FieldAccess,
    pub(super) owner: PhantomData<fn(&S)>,
}

/// How to reach a struct behind `Option<Box<T>>`, and its fields in the order of its shape.
#[derive(Clone, Copy)]
pub struct StructAccess {
    pub(super) shape: &'static StructShape,
    pub(super) fields: &'static [FieldAccess],
    pub(super) put: Put,
    pub(super) get: Get,
}

impl StructAccess {
    /// Access for the struct `T`, whose shape and fields these are.
    pub(super) const fn with<T: Default + 'static>(
        shape: &'static StructShape,
        fields: &'static [FieldAccess],
    ) -> Self {
        Self {
            shape,
            fields,
            put: put_boxed::<T>,
            get: get_boxed::<T>,
        }
    }
}

impl fmt::Debug for StructAccess {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("StructAccess")
    }
}

/// How to reach a newtype over a string. What makes one stands in [`super::access`], because it needs the trait.
#[derive(Clone, Copy)]
pub struct EnumAccess {
    pub(super) put: Put,
    pub(super) get: Get,
    pub(super) set: unsafe fn(*mut u8, &str),
    pub(super) text: unsafe fn(*const u8) -> *const str,
}

impl fmt::Debug for EnumAccess {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("EnumAccess")
    }
}

/// How to reach a `Vec<T>`.
#[derive(Clone, Copy)]
pub struct ListAccess {
    pub(super) item: Access,
    pub(super) put: Put,
    pub(super) get: Get,
    pub(super) push: Put,
    pub(super) len: unsafe fn(*const u8) -> usize,
    pub(super) at: unsafe fn(*const u8, usize) -> *const u8,
}

impl ListAccess {
    /// Access for `Vec<T>`, with that for its items.
    pub(super) const fn of<T: Default + 'static>(item: Access) -> Self {
        unsafe fn push<T: Default>(list: *mut u8) -> *mut u8 {
            // SAFETY: callers pass a pointer to a live `Vec<T>`.
            let list = unsafe { &mut *list.cast::<Vec<T>>() };
            list.push(T::default());
            let last = list.len() - 1;
            std::ptr::from_mut(&mut list[last]).cast()
        }
        unsafe fn len<T>(list: *const u8) -> usize {
            // SAFETY: as in `push`.
            unsafe { &*list.cast::<Vec<T>>() }.len()
        }
        unsafe fn at<T>(list: *const u8, index: usize) -> *const u8 {
            // SAFETY: as in `push`; the index is checked by the slice.
            std::ptr::from_ref(&unsafe { &*list.cast::<Vec<T>>() }[index]).cast()
        }
        Self {
            item,
            put: put_option::<Vec<T>>,
            get: get_option::<Vec<T>>,
            push: push::<T>,
            len: len::<T>,
            at: at::<T>,
        }
    }
}

impl fmt::Debug for ListAccess {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("ListAccess")
    }
}

/// How to reach a `BTreeMap<String, T>`.
#[derive(Clone, Copy)]
pub struct MapAccess {
    pub(super) value: Access,
    pub(super) put: Put,
    pub(super) get: Get,
    pub(super) insert: unsafe fn(*mut u8, &str) -> *mut u8,
    pub(super) each: unsafe fn(*const u8, &mut dyn FnMut(*const str, *const u8)),
}

impl MapAccess {
    /// Access for `BTreeMap<String, T>`, with that for its values.
    pub(super) const fn of<T: Default + 'static>(value: Access) -> Self {
        unsafe fn insert<T: Default>(map: *mut u8, key: &str) -> *mut u8 {
            // SAFETY: callers pass a pointer to a live `BTreeMap<String, T>`.
            let map = unsafe { &mut *map.cast::<BTreeMap<String, T>>() };
            std::ptr::from_mut(map.entry(key.to_owned()).or_default()).cast()
        }
        unsafe fn each<T>(map: *const u8, visit: &mut dyn FnMut(*const str, *const u8)) {
            // SAFETY: as in `insert`.
            for (key, value) in unsafe { &*map.cast::<BTreeMap<String, T>>() } {
                visit(
                    std::ptr::from_ref(key.as_str()),
                    std::ptr::from_ref(value).cast(),
                );
            }
        }
        Self {
            value,
            put: put_option::<BTreeMap<String, T>>,
            get: get_option::<BTreeMap<String, T>>,
            insert: insert::<T>,
            each: each::<T>,
        }
    }
}

impl fmt::Debug for MapAccess {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("MapAccess")
    }
}
