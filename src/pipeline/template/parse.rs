//! Text to pieces.

use std::ops::Range;
use std::path::Path;

use super::{Piece, Template, Variable};

/// A variable that is written wrongly.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemplateError {
    /// What is wrong, a fragment.
    pub message: String,
    /// Bytes of the text that are wrong.
    pub span: Range<usize>,
    /// What a person can do.
    pub hint: String,
}

impl Template {
    /// Finds the variables of a text; `$$` stands for one `$`.
    ///
    /// `folder` is what `${file.PATH}` is joined onto. All faulty variables are returned.
    pub fn parse(text: &str, folder: &Path) -> Result<Self, Vec<TemplateError>> {
        let (mut pieces, mut errors, mut plain) = (Vec::new(), Vec::new(), String::new());
        let mut at = 0;
        while let Some(found) = text[at..].find('$') {
            let dollar = at + found;
            plain.push_str(&text[at..dollar]);
            let rest = &text[dollar + 1..];
            if rest.starts_with('$') {
                plain.push('$');
                at = dollar + 2;
            } else if rest.starts_with('{') {
                let (end, variable) = parse_variable(text, dollar, folder);
                at = end;
                match variable {
                    Ok(variable) => {
                        push_plain(&mut pieces, &mut plain);
                        pieces.push(Piece::Variable(variable));
                    }
                    Err(error) => errors.push(error),
                }
            } else {
                plain.push('$');
                at = dollar + 1;
            }
        }
        plain.push_str(&text[at..]);
        push_plain(&mut pieces, &mut plain);
        if errors.is_empty() {
            Ok(Self::Text(pieces))
        } else {
            Err(errors)
        }
    }
}

fn push_plain(pieces: &mut Vec<Piece>, plain: &mut String) {
    if !plain.is_empty() {
        pieces.push(Piece::Plain(std::mem::take(plain)));
    }
}

const FORMS: &str = "use `${bmc.name}`, `${server.name}`, `${label.NAME}`, `${env.NAME}` or `${file.PATH}`; `$$` is a plain `$`";

/// Where the variable ends, and what it is.
fn parse_variable(
    text: &str,
    start: usize,
    folder: &Path,
) -> (usize, Result<Variable, TemplateError>) {
    let Some(length) = text[start..].find('}') else {
        let error = TemplateError {
            message: "variable is not closed".to_owned(),
            span: start..text.len(),
            hint: "close it with `}`, or write `$$` for a plain `$`".to_owned(),
        };
        return (text.len(), Err(error));
    };
    let end = start + length + 1;
    let name = &text[start + 2..end - 1];
    let variable = named(name, folder).map_err(|problem| TemplateError {
        message: format!("variable `${{{name}}}` {problem}"),
        span: start..end,
        hint: FORMS.to_owned(),
    });
    (end, variable)
}

fn named(name: &str, folder: &Path) -> Result<Variable, &'static str> {
    let Some((root, rest)) = name.split_once('.') else {
        return Err("is not known");
    };
    match (root, rest) {
        ("label" | "env" | "file", "") => Err("names nothing after the dot"),
        ("bmc", "name") => Ok(Variable::BmcName),
        ("server", "name") => Ok(Variable::ServerName),
        ("label", label) => Ok(Variable::Label(label.to_owned())),
        ("env", variable) => Ok(Variable::Env(variable.to_owned())),
        ("file", path) => Ok(Variable::File(folder.join(path))),
        (_, _) => Err("is not known"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Template, Vec<TemplateError>> {
        Template::parse(text, Path::new("folder"))
    }

    #[test]
    fn each_faulty_variable_is_located() {
        let cases = [
            ("a${bmc.nam}", 1..11, "variable `${bmc.nam}` is not known"),
            ("${vendor.x}", 0..11, "variable `${vendor.x}` is not known"),
            ("${x}", 0..4, "variable `${x}` is not known"),
            ("${}", 0..3, "variable `${}` is not known"),
            (
                "${env.}",
                0..7,
                "variable `${env.}` names nothing after the dot",
            ),
            ("$$${label.x", 2..11, "variable is not closed"),
        ];
        for (text, span, message) in cases {
            let Err(errors) = parse(text) else {
                panic!("{text} is accepted")
            };
            assert_eq!(
                (&errors[0].span, errors[0].message.as_str()),
                (&span, message),
                "{text}"
            );
        }
        assert_eq!(
            parse("${a} ${env.X} ${b}").err().map(|errors| errors.len()),
            Some(2)
        );
    }

    #[test]
    fn variables_and_escapes_become_pieces() {
        let expected = vec![
            Piece::Plain("$".to_owned()),
            Piece::Variable(Variable::BmcName),
            Piece::Plain("-$x-${no} ".to_owned()),
            Piece::Variable(Variable::File("folder/a.b".into())),
            Piece::Variable(Variable::Label("redfish.model".to_owned())),
        ];
        let text = "$$${bmc.name}-$x-$${no} ${file.a.b}${label.redfish.model}";
        assert_eq!(parse(text), Ok(Template::Text(expected)));
        assert_eq!(parse(""), Ok(Template::Text(Vec::new())));
    }
}
