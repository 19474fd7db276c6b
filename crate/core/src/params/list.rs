//! Which parameters a model has, and where each stands.

use super::table::{Layout, Role, Scope, DECLARATIONS};
use crate::config::Config;
use crate::stage::Tower;
use alloc::{format, string::String, vec::Vec};
use core::ops::Range;

/// One parameter: a matrix or a vector.
#[derive(Clone, Debug)]
pub struct Parameter {
    pub(crate) role: Role,
    pub(super) tower: Tower,
    block: usize,
    expert: usize,
    pub(super) shape: [usize; 2],
    offset: usize,
}

impl Parameter {
    /// Its full name, such as `blocks.0.attention.query`.
    pub fn name(&self) -> String {
        let (tower, own, block) = (self.tower.prefix(), self.role.declaration().name, self.block);
        match self.role.declaration().scope {
            Scope::Front | Scope::Back => format!("{tower}{own}"),
            Scope::Block => format!("{tower}blocks.{block}.{own}"),
            Scope::Expert => format!("{tower}blocks.{block}.feed_forward.experts.{}.{own}", self.expert),
        }
    }

    /// Its one or two sizes in the order of its layout.
    pub fn shape(&self) -> &[usize] {
        match self.layout() {
            Layout::Vector => &self.shape[..1],
            _ => &self.shape,
        }
    }

    /// Which of its sizes is input, which output.
    pub fn layout(&self) -> Layout {
        self.role.declaration().layout
    }

    /// The tower whose parameter it is.
    pub(crate) fn tower(&self) -> Tower {
        self.tower
    }

    /// How many numbers it has.
    pub fn count(&self) -> usize {
        self.shape[0] * self.shape[1]
    }

    /// Its two sizes; a vector's second is 1.
    pub(crate) fn sizes(&self) -> [usize; 2] {
        self.shape
    }

    /// How many inputs each of its outputs is summed over.
    pub(crate) fn inputs(&self) -> usize {
        match self.layout() {
            Layout::OutIn => self.shape[1],
            _ => self.shape[0],
        }
    }

    pub(super) fn range(&self) -> Range<usize> {
        self.offset..self.offset + self.count()
    }
}

/// Where a tower's parameters stand in the list: all its blocks have the same ones, all its experts too.
#[derive(Clone, Debug)]
pub(super) struct Places {
    firsts: [Option<usize>; DECLARATIONS.len()],
    pub(super) first_block: usize,
    pub(super) per_block: usize,
    per_expert: usize,
}

impl Places {
    pub(super) fn of(&self, role: Role, block: usize, expert: usize) -> Option<usize> {
        let first = self.firsts[role as usize]?;
        Some(match role.declaration().scope {
            Scope::Front | Scope::Back => first,
            Scope::Block => first + block * self.per_block,
            Scope::Expert => first + block * self.per_block + expert * self.per_expert,
        })
    }
}

/// Lists the parameters of one tower.
pub(super) fn list_tower(
    config: &Config,
    tower: Tower,
    experts: usize,
    list: &mut Vec<Parameter>,
    offset: &mut usize,
) -> Places {
    let mut places =
        Places { firsts: [None; DECLARATIONS.len()], first_block: 0, per_block: 0, per_expert: 0 };
    let mut add = |list: &mut Vec<Parameter>, scope, block, expert| {
        for declaration in DECLARATIONS.iter().filter(|d| d.scope == scope) {
            let Some(shape) = declaration.role.shape(config, tower) else { continue };
            // They fit: memory for all of them was had.
            let shape = shape.map(|size| size as usize);
            places.firsts[declaration.role as usize].get_or_insert(list.len());
            list.push(Parameter { role: declaration.role, tower, block, expert, shape, offset: *offset });
            *offset += shape[0] * shape[1];
        }
    };
    add(list, Scope::Front, 0, 0);
    let first_block = list.len();
    let mut per_expert = 0;
    for n in 0..config.blocks_of(tower) {
        add(list, Scope::Block, n, 0);
        for e in 0..experts {
            let before = list.len();
            add(list, Scope::Expert, n, e);
            per_expert = list.len() - before;
        }
    }
    let blocks = list.len() - first_block;
    add(list, Scope::Back, 0, 0);
    Places { first_block, per_block: blocks / config.blocks_of(tower), per_expert, ..places }
}
