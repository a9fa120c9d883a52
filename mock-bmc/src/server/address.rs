//! This room decides on which addresses a fleet listens.
//!
//! It deliberately opens nothing: it turns one `--listen` text into an address per BMC.

use std::net::{AddrParseError, IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::str::FromStr;

/// What `--listen` says.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Listen {
    /// `IP:0`: one free port of that address for each BMC.
    FreePorts(IpAddr),
    /// `IP:PORT`: that port for the first BMC, the ones above it for the others.
    Ports(IpAddr, u16),
    /// `IP/BITS:PORT`: the same port on an address of its own for each BMC, the network's first and last left out.
    Addresses {
        /// The network's first address.
        network: Ipv4Addr,
        /// Length of the network part, 8 to 30.
        bits: u8,
        /// The port that all of them share.
        port: u16,
    },
}

/// Why a `--listen` text cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ListenError {
    /// There is no port.
    #[error(
        "found `{0}`, expected `IP:PORT` or `NETWORK/BITS:PORT`, such as `127.0.0.1:0` or `127.1.0.0/16:8443`"
    )]
    Form(String),
    /// The part before the port is no address.
    #[error("found `{found}`, expected an IP address")]
    Address {
        /// What stood there.
        found: String,
        /// The reader's own reason.
        source: AddrParseError,
    },
    /// The port is no port.
    #[error("found `{0}`, expected a port from 0 to 65535")]
    Port(String),
    /// A network needs a fixed port.
    #[error(
        "found port 0 with a network, expected a port from 1 to 65535: each BMC has the same port on its own address"
    )]
    NetworkPort,
    /// The network part is too short or too long.
    #[error("found `/{0}`, expected a network length from 8 to 30")]
    Bits(String),
    /// Only IPv4 has a whole network of loopback addresses.
    #[error("found `{0}`, expected an IPv4 network")]
    NetworkFamily(String),
    /// More BMCs than addresses or ports.
    #[error("{wanted} BMCs do not fit: `{listen}` has room for {room}")]
    TooMany {
        /// How many BMCs there are.
        wanted: usize,
        /// The option's text.
        listen: String,
        /// How many fit.
        room: usize,
    },
}

impl Default for Listen {
    fn default() -> Self {
        Self::FreePorts(IpAddr::V4(Ipv4Addr::LOCALHOST))
    }
}

impl FromStr for Listen {
    type Err = ListenError;

    fn from_str(text: &str) -> Result<Self, ListenError> {
        let (host, port) = text
            .rsplit_once(':')
            .ok_or_else(|| ListenError::Form(text.to_owned()))?;
        let port: u16 = port
            .parse()
            .map_err(|_| ListenError::Port(port.to_owned()))?;
        let Some((network, bits)) = host.split_once('/') else {
            let ip = address(host)?;
            return Ok(if port == 0 {
                Self::FreePorts(ip)
            } else {
                Self::Ports(ip, port)
            });
        };
        let bits = bits
            .parse()
            .ok()
            .filter(|bits| (8..=30).contains(bits))
            .ok_or_else(|| ListenError::Bits(bits.to_owned()))?;
        let IpAddr::V4(network) = address(network)? else {
            return Err(ListenError::NetworkFamily(network.to_owned()));
        };
        if port == 0 {
            return Err(ListenError::NetworkPort);
        }
        let mask = u32::MAX << (32 - u32::from(bits));
        let network = Ipv4Addr::from_bits(network.to_bits() & mask);
        Ok(Self::Addresses {
            network,
            bits,
            port,
        })
    }
}

impl std::fmt::Display for Listen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::FreePorts(ip) => SocketAddr::new(*ip, 0).fmt(f),
            Self::Ports(ip, port) => SocketAddr::new(*ip, *port).fmt(f),
            Self::Addresses {
                network,
                bits,
                port,
            } => write!(f, "{network}/{bits}:{port}"),
        }
    }
}

impl Listen {
    /// One address per BMC, in order; a port of 0 is still to be chosen by the system.
    pub fn addresses(&self, wanted: usize) -> Result<Vec<SocketAddr>, ListenError> {
        let room = self.room();
        if wanted > room {
            let listen = self.to_string();
            return Err(ListenError::TooMany {
                wanted,
                listen,
                room,
            });
        }
        Ok(match *self {
            Self::FreePorts(ip) => vec![SocketAddr::new(ip, 0); wanted],
            Self::Ports(ip, port) => (port..=u16::MAX)
                .take(wanted)
                .map(|port| SocketAddr::new(ip, port))
                .collect(),
            Self::Addresses { network, port, .. } => (network.to_bits() + 1..)
                .take(wanted)
                .map(|bits| SocketAddr::new(Ipv4Addr::from_bits(bits).into(), port))
                .collect(),
        })
    }

    fn room(&self) -> usize {
        match self {
            Self::FreePorts(_) => usize::from(u16::MAX),
            Self::Ports(_, port) => usize::from(u16::MAX - port) + 1,
            Self::Addresses { bits, .. } => (1_usize << (32 - bits)) - 2,
        }
    }
}

fn address(text: &str) -> Result<IpAddr, ListenError> {
    let failed = |source| ListenError::Address {
        found: text.to_owned(),
        source,
    };
    match text
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
    {
        Some(inner) => inner.parse::<Ipv6Addr>().map(IpAddr::V6).map_err(failed),
        None if text == "localhost" => Ok(IpAddr::V4(Ipv4Addr::LOCALHOST)),
        None => text.parse::<Ipv4Addr>().map(IpAddr::V4).map_err(failed),
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn what_cannot_be_listened_on_says_what_was_expected() {
        for (text, part) in [
            ("127.0.0.1", "expected `IP:PORT`"),
            ("127.0.0.1:http", "found `http`, expected a port"),
            ("127.0.0.1:70000", "found `70000`"),
            ("bmc.lab:8443", "found `bmc.lab`, expected an IP address"),
            ("127.1.0.0/16:0", "found port 0 with a network"),
            ("127.1.0.0/31:8443", "found `/31`"),
            ("[::1]/64:8443", "found `/64`"),
            ("[::1]/16:8443", "expected an IPv4 network"),
        ] {
            let error = text.parse::<Listen>().unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn a_network_gives_each_bmc_its_own_address() {
        let listen: Listen = "127.1.2.3/16:8443".parse().unwrap();
        assert_eq!(listen.to_string(), "127.1.0.0/16:8443");
        let addresses = listen.addresses(300).unwrap();
        assert_eq!(addresses[0].to_string(), "127.1.0.1:8443");
        assert_eq!(addresses[299].to_string(), "127.1.1.44:8443");
    }

    #[test]
    fn a_fixed_port_counts_up() {
        let listen: Listen = "127.0.0.1:65534".parse().unwrap();
        assert_eq!(listen.addresses(2).unwrap()[1].port(), 65535);
        let error = listen.addresses(3).unwrap_err().to_string();
        assert_eq!(error, "3 BMCs do not fit: `127.0.0.1:65534` has room for 2");
    }

    #[test]
    fn both_families_take_free_ports() {
        for text in ["127.0.0.1:0", "[::1]:0", "localhost:0"] {
            let listen: Listen = text.parse().unwrap();
            assert_eq!(listen.addresses(2).unwrap()[1].port(), 0);
        }
    }
}
