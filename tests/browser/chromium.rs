//! A browser on the other end of two pipes: DevTools messages, each ended by a zero byte.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

/// A headless browser with one page; ends with this.
pub(crate) struct Chromium {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    session: Option<String>,
    sent: u64,
    complaints: Vec<String>,
    _profile: TempDir,
}

impl Chromium {
    /// `None` where there is no browser.
    pub(crate) fn start() -> Option<Self> {
        let is_there = Command::new("chromium").arg("--version").output();
        is_there.ok().filter(|told| told.status.success())?;
        Some(Self::launch())
    }

    fn launch() -> Self {
        let profile = tempfile::tempdir().unwrap();
        // It talks DevTools on the descriptors 3 and 4.
        let script = "exec chromium --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage \
             --no-first-run --window-size=1400,900 --remote-debugging-pipe \"--user-data-dir=$1\" about:blank \
             3<&0 4>&1 0</dev/null 1>/dev/null";
        let mut child = Command::new("sh")
            .args(["-c", script, "sh"])
            .arg(profile.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let mut browser = Self {
            child,
            input,
            output: BufReader::new(output),
            session: None,
            sent: 0,
            complaints: Vec::new(),
            _profile: profile,
        };
        let target = browser.call("Target.createTarget", &json!({ "url": "about:blank" }));
        let how = json!({ "targetId": target["targetId"], "flatten": true });
        let attached = browser.call("Target.attachToTarget", &how);
        browser.session = attached["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page.enable", "Runtime.enable", "Log.enable"] {
            browser.call(domain, &json!({}));
        }
        browser
    }

    pub(crate) fn open(&mut self, url: &str) {
        self.call("Page.navigate", &json!({ "url": url }));
    }

    /// The value of an expression, awaited.
    pub(crate) fn evaluate(&mut self, expression: &str) -> Value {
        let how = json!({ "expression": expression, "awaitPromise": true, "returnByValue": true });
        let found = self.call("Runtime.evaluate", &how);
        assert!(
            found.get("exceptionDetails").is_none(),
            "{expression}: {found}"
        );
        found["result"]["value"].clone()
    }

    /// Presses the mouse in the middle of the first such element.
    pub(crate) fn click(&mut self, selector: &str) {
        let middle = format!(
            "(() => {{ const e = document.querySelector('{selector}'); e.scrollIntoView({{ block: 'center' }}); \
             const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; }})()"
        );
        let at = self.evaluate(&middle);
        for kind in ["mousePressed", "mouseReleased"] {
            let how =
                json!({ "type": kind, "x": at[0], "y": at[1], "button": "left", "clickCount": 1 });
            self.call("Input.dispatchMouseEvent", &how);
        }
    }

    /// Presses a key that has a name.
    pub(crate) fn key(&mut self, key: &str) {
        let code = match key {
            "Enter" => 13,
            "Escape" => 27,
            "ArrowDown" => 40,
            other => panic!("no key {other}"),
        };
        for kind in ["rawKeyDown", "keyUp"] {
            let how =
                json!({ "type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code });
            self.call("Input.dispatchKeyEvent", &how);
        }
    }

    /// Types a text where the focus is.
    pub(crate) fn write(&mut self, text: &str) {
        self.call("Input.insertText", &json!({ "text": text }));
    }

    /// Keeps a picture beside the build, for people.
    pub(crate) fn screenshot(&mut self, name: &str) {
        let taken = self.call("Page.captureScreenshot", &json!({ "format": "png" }));
        let path =
            PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("dashboard-{name}.png.base64"));
        std::fs::write(path, taken["data"].as_str().unwrap()).unwrap();
    }

    /// What the browser found wrong with the page.
    pub(crate) fn complaints(&self) -> Vec<String> {
        self.complaints.clone()
    }

    fn call(&mut self, method: &str, parameters: &Value) -> Value {
        self.sent += 1;
        let mut message = json!({ "id": self.sent, "method": method, "params": parameters });
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        self.input
            .write_all(format!("{message}\0").as_bytes())
            .unwrap();
        self.input.flush().unwrap();
        loop {
            let mut bytes = Vec::new();
            let read = self.output.read_until(0, &mut bytes).unwrap();
            assert!(read > 0, "the browser ended during {method}");
            bytes.pop();
            let answer: Value = serde_json::from_slice(&bytes).unwrap();
            if answer["id"] == self.sent {
                assert!(answer.get("error").is_none(), "{method}: {answer}");
                return answer["result"].clone();
            }
            self.listen(&answer);
        }
    }

    fn listen(&mut self, event: &Value) {
        let is_complaint = match event["method"].as_str() {
            Some("Runtime.exceptionThrown") => true,
            Some("Log.entryAdded") => event["params"]["entry"]["level"] == "error",
            Some(_) | None => false,
        };
        // Browsers ask for an icon that there is none of.
        if is_complaint && !event.to_string().contains("favicon.ico") {
            self.complaints.push(event["params"].to_string());
        }
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
