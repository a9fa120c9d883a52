//! What the mocks' ledgers show: I1, I2 and I3.

use mock_bmc::ledger::{Kind, LedgerLine};

use super::seen::{Open, Seen};
use super::{number, word_after};

/// Says that targets are taken.
const BUSY: &str = "HttpPushUriTargetsBusy";

/// Where an image that was verified is written.
const START: &str = "UpdateService.StartUpdate";

impl Seen {
    pub(super) fn line(&mut self, bmc: &str, line: &LedgerLine) {
        self.bmcs.get_mut(bmc).unwrap().lines += 1;
        match line.kind {
            Kind::Request => self.request(bmc, line),
            Kind::Fetch | Kind::State => {
                for phrase in line.caused.iter().chain(&line.detail) {
                    self.state(bmc, phrase);
                }
            }
            Kind::Reset | Kind::Fault => {}
        }
    }

    fn request(&mut self, bmc: &str, line: &LedgerLine) {
        let of = self.bmcs.get_mut(bmc).unwrap();
        if line.method.as_deref() == Some("GET") && line.status == Some(200) {
            of.last_read = line.n;
        }
        let asks = line.method.as_deref() == Some("POST")
            && !line.path.iter().any(|path| path.contains("/Sessions"));
        let has_had = |open: &Open| open.updates + open.resets > 0;
        // The second step of one update: what was taken so far is only verified.
        let starts = of.verified && line.path.iter().any(|path| path.ends_with(START));
        if asks && !starts && of.open.as_ref().is_some_and(has_had) {
            let how = format!("{bmc}: {:?} comes again for one intent", line.path);
            self.breaks("I2", how);
        }
        for phrase in &line.caused {
            let of = self.bmcs.get_mut(bmc).unwrap();
            if phrase.starts_with("update accepted ") {
                of.last_write = line.n;
                self.update(bmc, phrase);
            } else if phrase.starts_with("update started ") {
                of.last_write = line.n;
                of.verified = false;
                of.update = Some(word_after(phrase, " task "));
            } else if phrase.starts_with("reset /") {
                of.last_write = line.n;
                self.reset(bmc, phrase);
            } else if phrase.starts_with("settings accepted ")
                || phrase.starts_with("resource changed ")
            {
                of.last_write = line.n;
                self.claim(bmc, line);
            } else if phrase.starts_with("job created ") {
                self.job(bmc, phrase);
            }
        }
    }

    /// I2: the place in which a push names its targets is taken for an intent only.
    fn claim(&mut self, bmc: &str, line: &LedgerLine) {
        let busy = line.body.as_ref().and_then(|body| body[BUSY].as_bool());
        let of = self.bmcs.get_mut(bmc).unwrap();
        of.claimed = busy.unwrap_or(of.claimed);
        if busy == Some(true) && of.open.is_none() {
            self.breaks("I2", format!("{bmc}: targets are taken without an intent"));
        }
    }

    /// I2: a job that a BMC made of settings.
    fn job(&mut self, bmc: &str, phrase: &str) {
        let of = self.bmcs.get_mut(bmc).unwrap();
        let twice = of.open.as_mut().is_none_or(|open| {
            open.jobs += 1;
            open.jobs > 1
        });
        if twice {
            self.breaks(
                "I2",
                format!("{bmc}: {phrase}, a second time for one intent"),
            );
        }
    }

    /// I1, I2: an update that a BMC took.
    fn update(&mut self, bmc: &str, phrase: &str) {
        let of = self.bmcs.get_mut(bmc).unwrap();
        let before = of.update.replace(word_after(phrase, " task "));
        let staged = of.staged.clone();
        let twice = of.open.as_mut().is_none_or(|open| {
            open.updates += 1;
            open.updates > 1
        });
        if let Some(task) = before {
            self.breaks(
                "I1",
                format!("{bmc}: {phrase}, and task {task} is not over"),
            );
        }
        if !staged.is_empty() && !self.blind.contains(bmc) {
            self.breaks(
                "I1",
                format!("{bmc}: {phrase}, and images are staged: {staged:?}"),
            );
        }
        if twice {
            self.breaks(
                "I2",
                format!("{bmc}: {phrase}, a second time for one intent"),
            );
        }
    }

    /// I1, I2: a reset that a BMC took.
    fn reset(&mut self, bmc: &str, phrase: &str) {
        let of = self.bmcs.get_mut(bmc).unwrap();
        let cuts = of.update.is_some() && phrase.contains("/Managers/");
        let twice = of.open.as_mut().is_none_or(|open| {
            open.resets += 1;
            open.resets > 1
        });
        if cuts {
            self.breaks("I1", format!("{bmc}: {phrase}, and an update is at work"));
        }
        if twice {
            self.breaks(
                "I2",
                format!("{bmc}: {phrase}, a second time for one intent"),
            );
        }
    }

    fn state(&mut self, bmc: &str, phrase: &str) {
        let of = self.bmcs.get_mut(bmc).unwrap();
        if phrase.starts_with("update done task ") || phrase.starts_with("update failed task ") {
            of.update = None;
        } else if phrase.starts_with("update verified task ") {
            of.update = None;
            of.verified = true;
        } else if phrase.starts_with("update forgotten task ") {
            of.verified = false;
        } else if let Some(rest) = phrase.strip_prefix("bios ") {
            let id = rest.split(' ').next().unwrap_or_default().to_owned();
            if rest.contains(" staged ") {
                of.update = None;
                of.staged.insert(id, rest.to_owned());
            } else if rest.contains(" unstaged ") || rest.contains(" version ") {
                of.staged.remove(&id);
            }
            self.version(bmc, rest);
        } else if phrase.starts_with("bmc version ") {
            self.version(bmc, phrase);
        } else if phrase.starts_with("bricked") {
            self.breaks("I1", format!("{bmc}: {phrase}"));
        } else if phrase == "manager dead" {
            of.update = None;
        } else if phrase.starts_with("post ") && phrase.ends_with(" ends") {
            // A flash that changed nothing leaves nothing staged.
            let id = word_after(phrase, "post ");
            of.staged.remove(&id);
        }
    }

    /// I3.
    fn version(&mut self, bmc: &str, phrase: &str) {
        let Some((before, after)) = phrase.split_once(" -> ") else {
            return;
        };
        let old = before.rsplit(' ').next().and_then(number);
        if let (Some(old), Some(new)) = (old, number(after))
            && new < old
            // A BMC that runs something else than its image is not our doing.
            && after != "0.00"
        {
            self.breaks("I3", format!("{bmc}: {phrase}"));
        }
    }
}
