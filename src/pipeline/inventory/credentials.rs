//! `[credentials.NAME]`.

use secrecy::SecretString;

use crate::model::inventory::{CredentialsRef, SecretSource};
use crate::pipeline::check::Check;
use crate::pipeline::document::{At, CredentialsDocument, SecretDocument};

pub(super) fn check_credentials(
    name: &At<String>,
    document: &At<CredentialsDocument>,
    check: &mut Check<'_>,
) -> Option<CredentialsRef> {
    let CredentialsDocument { username, password } = document.get();
    if let Some(username) = username
        .as_ref()
        .filter(|username| username.get().is_empty())
    {
        let message = format!("`username` of credentials `{}` is empty", name.get());
        check
            .error(username.span(), message, "no account")
            .hint("write the account's name");
    }
    let password = password
        .as_ref()
        .map(|password| check_secret(name.get(), password, check));
    Some(CredentialsRef {
        name: name.get().clone(),
        username: username.as_ref()?.get().clone(),
        password: password??,
    })
}

fn check_secret(
    name: &str,
    secret: &At<SecretDocument>,
    check: &mut Check<'_>,
) -> Option<SecretSource> {
    let SecretDocument {
        env,
        file,
        command,
        plain,
    } = secret.get();
    if let Some(plain) = plain {
        let message = format!("the password of credentials `{name}` is written in the file");
        check
            .error(
                check.file.key_of(&plain.span()),
                message,
                "everybody who reads the file knows it",
            )
            .warning()
            .hint("use `{ env = \"..\" }`, `{ file = \"..\" }` or `{ command = [..] }`");
        return Some(SecretSource::Plain(SecretString::from(
            plain.get().as_str(),
        )));
    }
    if let Some(env) = env {
        not_empty("env", env, check)?;
        return Some(SecretSource::Env(env.get().clone()));
    }
    if let Some(file) = file {
        not_empty("file", file, check)?;
        return Some(SecretSource::File(check.path(file.get())));
    }
    let command = command.as_ref()?;
    let words: Vec<String> = command
        .get()
        .iter()
        .map(|word| word.get().clone())
        .collect();
    if words.first().is_none_or(String::is_empty) {
        let message = format!("`command` of credentials `{name}` names no program");
        check
            .error(command.span(), message, "nothing to run")
            .hint("write `command = [\"pass\", \"show\", \"bmc/lab\"]`");
        return None;
    }
    Some(SecretSource::Command(words))
}

fn not_empty(key: &str, value: &At<String>, check: &mut Check<'_>) -> Option<()> {
    if value.get().is_empty() {
        check
            .error(value.span(), format!("`{key}` is empty"), "names nothing")
            .hint(format!("name the {key}"));
        return None;
    }
    Some(())
}
