//! What a rule is: data that says how a kind of version text is read and ordered.
//!
//! A rule deliberately has no code of its own, so that a table of them can be printed, tested and extended.

use crate::model::component::Component;

/// One row of the table.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// Shown as the rule of a comparison.
    pub name: &'static str,
    /// What it is for and what is odd about it, one sentence for people.
    pub note: &'static str,
    /// Words of platform names that it speaks of; it comes first on these.
    pub platforms: &'static [&'static str],
    /// The component it speaks of; `None` = any, also ones that no stage names.
    pub component: Option<Component>,
    /// The ways to write such a version; the first that fits is read.
    pub forms: &'static [Form],
    /// Which texts may be ordered against each other at all.
    pub family: Family,
    /// What orders, most significant first. Empty = equality only.
    pub fields: &'static [Field],
    /// Says the same as `fields` in another way: where both texts carry it and it contradicts, nothing is decided.
    pub confirms: &'static [Field],
    /// Group of a date, which decides only where both texts carry one and the fields tie.
    pub date: Option<&'static str>,
    /// Groups that name a build without any order: where they differ in a tie, nothing is decided.
    pub builds: &'static [&'static str],
}

impl Rule {
    /// A rule that matches nothing; the table names only what differs from it.
    pub(super) const BLANK: Self = Self {
        name: "",
        note: "",
        platforms: &[],
        component: None,
        forms: &[],
        family: Family::NONE,
        fields: &[],
        confirms: &[],
        date: None,
        builds: &[],
    };

    /// Whether any of its fields is hexadecimal.
    pub(super) fn is_hex(&self) -> bool {
        self.fields.iter().any(|field| field.radix == Radix::Hex)
    }
}

/// One way to write a version.
#[derive(Debug, Clone, Copy)]
pub struct Form {
    /// A regular expression for the whole text after trimming, in lower case, without one leading `v`; its named groups
    /// are what the rule speaks of.
    pub pattern: &'static str,
    /// How far the form speaks for itself.
    pub reach: Reach,
    /// Digits and letters as written are part of the shape: the pattern is held against the text in its own case.
    pub own_case: bool,
}

impl Form {
    pub(super) const fn named(pattern: &'static str) -> Self {
        Self {
            pattern,
            reach: Reach::Named,
            own_case: false,
        }
    }

    pub(super) const fn shaped(pattern: &'static str) -> Self {
        Self {
            pattern,
            reach: Reach::Shaped,
            own_case: false,
        }
    }

    pub(super) const fn short(pattern: &'static str) -> Self {
        Self {
            pattern,
            reach: Reach::Short,
            own_case: false,
        }
    }

    pub(super) const fn in_own_case(self) -> Self {
        Self {
            own_case: true,
            ..self
        }
    }
}

/// How far a form speaks for itself where no platform is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reach {
    /// Could be anybody's: counts only on the rule's platform, or beside a text in a fuller form.
    Short,
    /// Characteristic, but not unique: counts where both texts fit.
    Shaped,
    /// Nobody else writes so: counts on every platform, and is not compared with what the rule cannot read.
    Named,
}

/// Which texts belong together.
#[derive(Debug, Clone, Copy)]
pub struct Family {
    /// Groups that must be the same text.
    pub groups: &'static [&'static str],
    /// Ranges of a single numeric group that form one family; a number outside of all is a family of its own.
    pub bands: &'static [Band],
    /// What a text without the groups belongs to.
    pub unnamed: Unnamed,
    /// Word of a platform's name whose generation names the family of a text that does not.
    pub generation: Option<&'static str>,
}

impl Family {
    /// All texts of the rule belong together.
    pub(super) const NONE: Self = Self::of(&[]);

    pub(super) const fn of(groups: &'static [&'static str]) -> Self {
        Self {
            groups,
            bands: &[],
            unnamed: Unnamed::OnlyTwin,
            generation: None,
        }
    }
}

/// Numbers that form one family.
#[derive(Debug, Clone, Copy)]
pub struct Band {
    /// First number.
    pub lowest: u32,
    /// Last number.
    pub highest: u32,
    /// What the family is called.
    pub name: &'static str,
}

/// What a text that does not name its family may be compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unnamed {
    /// Texts of any family: the vendor drops the name in some fields of the same machine.
    AnyFamily,
    /// Only equal to a text with a family, and only where a date, number or build on both sides bears it out.
    OnlyTwin,
}

/// One ordered part of a version.
#[derive(Debug, Clone, Copy)]
pub struct Field {
    /// Group of the pattern.
    pub group: &'static str,
    /// How two values are ordered.
    pub radix: Radix,
    /// What a text without the field counts as.
    pub missing: Missing,
}

impl Field {
    pub(super) const fn decimal(group: &'static str) -> Self {
        Self {
            group,
            radix: Radix::Decimal,
            missing: Missing::Zero,
        }
    }

    pub(super) const fn hex(group: &'static str) -> Self {
        Self {
            group,
            radix: Radix::Hex,
            missing: Missing::Zero,
        }
    }

    pub(super) const fn base36(group: &'static str) -> Self {
        Self {
            group,
            radix: Radix::Base36,
            missing: Missing::Zero,
        }
    }

    pub(super) const fn letter(group: &'static str) -> Self {
        Self {
            group,
            radix: Radix::Letter,
            missing: Missing::Zero,
        }
    }

    pub(super) const fn mark(group: &'static str) -> Self {
        Self {
            group,
            radix: Radix::Mark,
            missing: Missing::Zero,
        }
    }

    pub(super) const fn newer_without(self) -> Self {
        Self {
            missing: Missing::Newer,
            ..self
        }
    }
}

/// How two values of a field are ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Radix {
    /// Digits 0-9, zeros in front do not count.
    Decimal,
    /// Digits 0-f.
    Hex,
    /// Digits 0-z.
    Base36,
    /// One letter, later in the alphabet is later.
    Letter,
    /// Digits or one letter; a number and a letter have no order between them.
    Mark,
}

/// What a text without a field counts as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missing {
    /// Equal to zero, older than anything else.
    Zero,
    /// Later than any value: release candidates.
    Newer,
}
