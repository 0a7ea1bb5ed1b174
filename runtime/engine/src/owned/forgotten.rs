//! Values of which there is no room to remember what the spec said: an edit of one is not noticed, and that is told.

use std::collections::HashSet;

use super::{Memory, Moved, Owned, in_azure};
use crate::compare::{MOST_MARKS, Mark, Remembered};

/// Stands for all marks for which there is no room.
const BEYOND: &str = "beyond";

impl Owned {
    /// Says of which of the values that are Azure's nothing is remembered, and whether that is news. One mark, for which there is
    /// room, stands for all that has none: it is another one when the spec is edited there, and when somebody moves what is told.
    pub(super) fn tell_forgotten(&mut self, memory: Memory<'_>) {
        if self.marks.len() <= MOST_MARKS {
            return;
        }
        let kept = MOST_MARKS - 1;
        let beyond: HashSet<&str> = self.marks[kept..]
            .iter()
            .map(|it| it.path.as_str())
            .collect();
        let is_beyond = |moved: &Moved| {
            let path = moved.path.as_str();
            moved.is_forgotten || beyond.contains(path) || beyond.contains(in_azure(path).as_str())
        };
        let forgotten: Vec<bool> = self.moved.iter().map(is_beyond).collect();
        let texts = self.marks[kept..].iter();
        let texts: Vec<String> = texts.map(|it| format!("{}={}", it.path, it.text)).collect();
        let mark = Mark {
            path: BEYOND.to_owned(),
            text: texts.join("\n"),
            is_scaled: false,
        };
        let is_new = !matches!(memory(&mark), Remembered::Same { .. });
        let mut is_told = false;
        for (moved, is_forgotten) in self.moved.iter_mut().zip(forgotten) {
            moved.is_forgotten = is_forgotten && moved.differs;
            if moved.is_forgotten {
                (moved.is_told, moved.is_new, moved.is_unknown) = (true, is_new, false);
                moved.may_be_edit = false;
                is_told = true;
            }
        }
        if is_told {
            // The first one is that of the rules.
            self.marks.insert(1.min(self.marks.len()), mark);
        }
    }
}
