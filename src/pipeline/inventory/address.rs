//! Addresses: host, `host:port` or URL.

use std::net::Ipv6Addr;

use crate::model::inventory::{Address, Scheme};

/// An address, or what is wrong with it.
pub(super) fn parse_address(text: &str) -> Result<Address, &'static str> {
    let (scheme, rest) = match text.split_once("://") {
        Some((word, rest)) if word.eq_ignore_ascii_case("https") => (Scheme::Https, rest),
        Some((word, rest)) if word.eq_ignore_ascii_case("http") => (Scheme::Http, rest),
        Some(_) => return Err("a scheme other than `https` and `http`"),
        None => (Scheme::Https, text),
    };
    let rest = rest.strip_suffix('/').unwrap_or(rest);
    if rest.contains('@') {
        return Err("user info, which belongs into `[credentials.NAME]`");
    }
    if rest.contains(['/', '?', '#']) {
        return Err("a path, which redpipe finds by itself");
    }
    let (host, port) = split_port(rest)?;
    if !is_host(host) {
        return Err("no host name or IP address");
    }
    let port = match port {
        Some(digits) => match digits.parse::<u16>() {
            Ok(port) if port > 0 => Some(port),
            Ok(_) | Err(_) => return Err("a port that is not a number from 1 to 65535"),
        },
        None => None,
    };
    Ok(Address::new(scheme, &host.to_ascii_lowercase(), port))
}

fn split_port(text: &str) -> Result<(&str, Option<&str>), &'static str> {
    if let Some(rest) = text.strip_prefix('[') {
        let (host, after) = rest.split_once(']').ok_or("a bracket that is not closed")?;
        return match after.strip_prefix(':') {
            Some(port) => Ok((host, Some(port))),
            None if after.is_empty() => Ok((host, None)),
            None => Err("something after the bracket that is not a port"),
        };
    }
    if text.parse::<Ipv6Addr>().is_ok() {
        return Ok((text, None));
    }
    Ok(match text.split_once(':') {
        Some((host, port)) => (host, Some(port)),
        None => (text, None),
    })
}

fn is_host(host: &str) -> bool {
    host.parse::<Ipv6Addr>().is_ok()
        || !host.is_empty()
            && host
                .chars()
                .all(|c| c.is_alphanumeric() || c == '-' || c == '.' || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_broken_address_says_what_it_has() {
        let cases = [
            ("", "no host name or IP address"),
            ("ftp://a", "a scheme other than `https` and `http`"),
            (
                "https://root:secret@a",
                "user info, which belongs into `[credentials.NAME]`",
            ),
            (
                "https://a/redfish/v1",
                "a path, which redpipe finds by itself",
            ),
            ("a:0", "a port that is not a number from 1 to 65535"),
            ("a:http", "a port that is not a number from 1 to 65535"),
            ("a:70000", "a port that is not a number from 1 to 65535"),
            ("[::1", "a bracket that is not closed"),
            ("[::1]x", "something after the bracket that is not a port"),
            ("a b", "no host name or IP address"),
        ];
        for (text, problem) in cases {
            assert_eq!(parse_address(text), Err(problem), "{text}");
        }
    }

    #[test]
    fn hosts_ports_and_urls_are_addresses() {
        let cases = [
            ("10.0.4.17", "https://10.0.4.17", 443),
            ("bmc.lab:8443", "https://bmc.lab:8443", 8443),
            ("https://10.0.4.17/", "https://10.0.4.17", 443),
            ("http://BMC.lab", "http://bmc.lab", 80),
            ("fd00::1", "https://[fd00::1]", 443),
            ("https://[fd00::1]:8443", "https://[fd00::1]:8443", 8443),
        ];
        for (text, base, port) in cases {
            let address = parse_address(text);
            assert_eq!(
                address.map(|address| (address.base, address.port)),
                Ok((base.into(), port)),
                "{text}"
            );
        }
    }
}
