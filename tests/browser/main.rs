//! The dashboard as a person uses it: a real browser, real clicks and keys, on a fleet of a thousand BMCs.

#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "tests, and what they skip"
)]

#[path = "../api/lab.rs"]
#[expect(dead_code, reason = "the API's tests use the rest of it")]
mod lab;
#[path = "../support/mod.rs"]
mod support;

mod chromium;
mod fleet;

use chromium::Chromium;
use fleet::{COPIES, copies};
use lab::Lab;
use redpipe::api::ApiOptions;

/// Waits in the page until an expression is true.
fn until(page: &mut Chromium, what: &str) {
    let wait = format!(
        "new Promise((done) => {{ const look = () => ({what}) ? done(true) : setTimeout(look, 20); look(); }})"
    );
    page.evaluate(&wait);
}

fn text(page: &mut Chromium, selector: &str) -> String {
    let found = page.evaluate(&format!(
        "document.querySelector('{selector}')?.textContent ?? ''"
    ));
    found.as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_failed_servers_reason_is_one_click_away_and_orders_are_asked_back() {
    let Some(mut page) = Chromium::start() else {
        eprintln!("skipped: there is no `chromium` here; `.ci/run` installs it");
        return;
    };
    let world = lab::seeded();
    copies(&world);
    let tcp = Some(lab::plain());
    let lab = Lab::of(
        world,
        ApiOptions {
            tcp,
            ..ApiOptions::default()
        },
    )
    .await;
    let url = lab.url("/");
    tokio::task::block_in_place(|| {
        page.open(&url);
        until(&mut page, "document.body?.dataset.loaded");
        everything_is_shown_failures_first(&mut page);
        a_click_tells_why(&mut page);
        keys_walk_and_close(&mut page);
        filters_hide_the_rest(&mut page);
        both_themes_are_there(&mut page);
        a_pipeline_is_paused_and_resumed(&mut page);
        a_release_says_what_it_leaves(&mut page);
        an_order_is_asked_back(&mut page);
    });
    let orders = lab.engine.store().orders().unwrap();
    let verbs: Vec<_> = orders.iter().map(|order| order.verb.as_str()).collect();
    assert_eq!(verbs, ["pause", "resume", "cancel"]);
    assert!(orders[2].by.starts_with("anna by api@"), "{orders:?}");
    assert_eq!(page.complaints(), [""; 0]);
    drop(page);
    lab.end().await;
}

fn everything_is_shown_failures_first(page: &mut Chromium) {
    let groups = page.evaluate("document.querySelectorAll('.rows > div').length");
    assert_eq!(groups, COPIES + 3);
    let first = text(page, ".rows .row > [role=rowheader]");
    assert_eq!(first, "✖ mock-2", "colour is not all: the sign says it too");
    let completed = text(page, "#phases [data-phase=Completed]");
    assert_eq!(completed, format!("✔ Completed {}", COPIES + 1));
    let marked = page.evaluate("document.querySelectorAll('.row.server.bad').length");
    assert_eq!(
        marked, 3,
        "every failed server has its row, and it is marked"
    );
}

fn a_click_tells_why(page: &mut Chromium) {
    page.click(".row.server.bad .cell.Failed");
    until(page, "document.querySelectorAll('#journal li').length > 0");
    assert_eq!(text(page, "#panel-title"), "bios on mock-2-s1");
    let reason = text(page, "#panel-reason");
    assert!(reason.contains("the task ended Exception"), "{reason}");
    let journal = text(page, "#journal");
    assert!(journal.contains("mock-2-s1: FAILED"), "{journal}");
    assert!(
        !journal.contains("mock-2-s2: FAILED"),
        "only of this cell: {journal}"
    );
    page.screenshot("failed");
}

fn keys_walk_and_close(page: &mut Chromium) {
    page.key("Escape");
    let hidden = page.evaluate("document.getElementById('panel').hidden");
    assert_eq!(hidden, true);
    let focused = "document.activeElement.dataset.server";
    assert_eq!(
        page.evaluate(focused),
        "mock-2-s1",
        "the cell has the focus again"
    );
    page.key("ArrowDown");
    assert_eq!(page.evaluate(focused), "mock-2-s2");
    page.key("Enter");
    assert_eq!(text(page, "#panel-title"), "bios on mock-2-s2");
    page.key("Escape");
}

fn filters_hide_the_rest(page: &mut Chromium) {
    let shown = "[...document.querySelectorAll('.rows > div')].filter((row) => !row.hidden).map((row) => row.dataset.bmc).join(' ')";
    page.evaluate("document.getElementById('filter').focus()");
    page.write("copy-0042");
    assert_eq!(page.evaluate(shown), "copy-0042");
    page.evaluate("const f = document.getElementById('filter'); f.value = ''; f.dispatchEvent(new Event('input'))");
    page.click("#phases [data-phase=Failed]");
    assert_eq!(page.evaluate(shown), "mock-2");
    page.click("#phases [data-phase=Failed]");
}

fn both_themes_are_there(page: &mut Chromium) {
    let theme =
        "document.documentElement.dataset.theme + getComputedStyle(document.body).backgroundColor";
    let before = page.evaluate(theme);
    page.click("#theme");
    assert_ne!(page.evaluate(theme), before);
    page.screenshot("theme");
}

fn a_pipeline_is_paused_and_resumed(page: &mut Chromium) {
    let told = "[...document.querySelectorAll('section')].find((one) => one.querySelector('h2')?.textContent === 'sets').textContent";
    for (word, is_paused) in [("pause", true), ("resume", false)] {
        let button = format!(".words [data-word={word}][data-pipeline=sets]");
        page.click(&button);
        assert_eq!(text(page, "#confirm-title"), format!("{word} sets?"));
        page.key("Escape");
        page.click(&button);
        page.click("#yes");
        until(page, &format!("{told}.includes('paused ') === {is_paused}"));
        let disabled =
            "document.querySelector('.words [data-word=pause][data-pipeline=sets]').disabled";
        assert_eq!(page.evaluate(disabled), is_paused);
    }
}

fn a_release_says_what_it_leaves(page: &mut Chromium) {
    let release = "[...document.querySelectorAll('#words button')].find((one) => one.textContent === 'release')";
    page.click(".cell.Held[data-run=\"asks/mock-1\"]");
    page.evaluate(&format!("{release}.id = 'release'"));
    page.click("#release");
    let asked = text(page, "#confirm-text");
    assert!(asked.contains("leaves on the BMC"), "{asked}");
    page.key("Escape");
    page.key("Escape");
    page.click(".row.server.bad .cell.Failed");
    let disabled = page.evaluate(&format!("{release}.disabled"));
    assert_eq!(disabled, true, "only what is held is given up");
    page.key("Escape");
}

fn an_order_is_asked_back(page: &mut Chromium) {
    page.click(".cell.Held[data-run=\"asks/mock-1\"]");
    let cancel = "[...document.querySelectorAll('#words button')].find((one) => one.textContent === 'cancel').id = 'cancel'";
    page.evaluate(cancel);
    page.click("#cancel");
    let asked = text(page, "#confirm-text");
    assert!(
        asked.contains("mock-1-s1, mock-1-s2"),
        "names who is concerned: {asked}"
    );
    page.key("Escape");
    page.click("#cancel");
    page.evaluate("document.getElementById('by').focus()");
    page.write("anna");
    page.click("#yes");
    until(
        page,
        "document.querySelector('#panel-facts').textContent.includes('Cancelled')",
    );
}
