//! Function pointers into typed values: what each table keeps of the Rust types that it is about.
//!
//! What goes through them, and why that is sound, is in [`super::access`]; besides it this is the only `unsafe` code of
//! the workspace.
#![allow(unsafe_code)]

use std::collections::BTreeMap;
use std::fmt;

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

unsafe fn clear_boxed<T>(slot: *mut u8) {
    // SAFETY: as in `put_boxed`.
    unsafe { *slot.cast::<Option<Box<T>>>() = None }
}

/// How to reach a struct behind `Option<Box<T>>`.
#[derive(Clone, Copy)]
pub struct StructAccess {
    pub(super) put: Put,
    pub(super) get: Get,
    pub(super) clear: unsafe fn(*mut u8),
}

impl StructAccess {
    /// Access for the struct `T`.
    pub const fn of<T: Default + 'static>() -> Self {
        Self {
            put: put_boxed::<T>,
            get: get_boxed::<T>,
            clear: clear_boxed::<T>,
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
    pub(super) put: Put,
    pub(super) get: Get,
    pub(super) push: Put,
    pub(super) len: unsafe fn(*const u8) -> usize,
    pub(super) at: unsafe fn(*const u8, usize) -> *const u8,
}

impl ListAccess {
    /// Access for `Vec<T>`.
    pub const fn of<T: Default + 'static>() -> Self {
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
    pub(super) put: Put,
    pub(super) get: Get,
    pub(super) insert: unsafe fn(*mut u8, &str) -> *mut u8,
    pub(super) each: unsafe fn(*const u8, &mut dyn FnMut(*const str, *const u8)),
}

impl MapAccess {
    /// Access for `BTreeMap<String, T>`.
    pub const fn of<T: Default + 'static>() -> Self {
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
