//! The word that tells friend from foe where others can reach the address.

use std::path::Path;

use sha2::{Digest as _, Sha256};

use super::error::Unserved;

/// Shorter ones can be guessed.
const CHARACTERS_MIN: usize = 24;

/// A token, of which only the digest is kept.
#[derive(Clone)]
pub struct Token([u8; 32]);

impl Token {
    /// The one line of a file.
    pub fn read(path: &Path) -> Result<Self, Unserved> {
        let failed = |why: String| Unserved::Token {
            path: path.to_owned(),
            why,
        };
        let text = std::fs::read_to_string(path).map_err(|error| failed(error.to_string()))?;
        Self::parse(&text).map_err(failed)
    }

    /// From its text.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let is_word = |c: char| c.is_ascii_graphic();
        if !text.chars().all(is_word) {
            return Err("a token is one word of printable ASCII characters".to_owned());
        }
        if text.len() < CHARACTERS_MIN {
            let length = text.len();
            return Err(format!(
                "the token has {length} characters, and needs {CHARACTERS_MIN}"
            ));
        }
        Ok(Self(digest(text)))
    }

    /// Whether it is this one. Takes the same time for every wrong one, as digests are compared, and to their end.
    pub(super) fn is(&self, given: &str) -> bool {
        let given = digest(given);
        let pairs = self.0.iter().zip(&given);
        pairs.fold(0, |differs, (a, b)| differs | (a ^ b)) == 0
    }
}

fn digest(text: &str) -> [u8; 32] {
    Sha256::digest(text.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_whole_token_is_taken() {
        let text = "a-token-of-thirty-characters..";
        let token = Token::parse(&format!("{text}\n")).expect("a good token");
        assert!(token.is(text));
        for wrong in ["", &text[1..], &text.to_uppercase(), &format!("{text} ")] {
            assert!(!token.is(wrong), "{wrong}");
        }
    }

    #[test]
    fn a_token_that_can_be_guessed_is_refused() {
        assert!(Token::parse("secret").is_err());
        assert!(Token::parse("two words that are long enough").is_err());
    }
}
