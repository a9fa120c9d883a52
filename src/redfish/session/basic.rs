//! Basic authentication (RFC 7617): the header, never shown.

use http::HeaderValue;
use secrecy::ExposeSecret;

use super::credentials::Login;

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// `Authorization` for these credentials.
pub(in crate::redfish) fn basic_header(login: &Login) -> HeaderValue {
    let plain = format!("{}:{}", login.username, login.password.expose_secret());
    let mut header = HeaderValue::from_str(&format!("Basic {}", base64(plain.as_bytes())))
        .expect("base64 is made of header characters");
    header.set_sensitive(true);
    header
}

fn base64(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |i: usize| u32::from(chunk.get(i).copied().unwrap_or(0));
        let word = byte(0) << 16 | byte(1) << 8 | byte(2);
        for place in 0..4 {
            if place <= chunk.len() {
                let six = usize::try_from(word >> (18 - 6 * place) & 63).unwrap_or(0);
                text.push(char::from(ALPHABET[six]));
            } else {
                text.push('=');
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use secrecy::SecretString;

    use super::*;

    #[test]
    fn base64_follows_the_vectors_of_rfc_4648() {
        let vectors = [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ];
        for (plain, coded) in vectors {
            assert_eq!(base64(plain.as_bytes()), coded);
        }
    }

    #[test]
    fn the_header_does_not_show_itself() {
        let login = Login {
            username: "u".to_owned(),
            password: SecretString::from("hunter2"),
            mark: "m".to_owned(),
        };
        let header = basic_header(&login);
        assert!(!format!("{header:?}").contains("dTpodW50ZXIy"));
        assert_eq!(header.to_str().expect("text"), "Basic dTpodW50ZXIy");
    }
}
