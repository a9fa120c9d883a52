//! Where a daemon is spoken to: its socket, and a TCP address where one is given.

use crate::api::{ApiOptions, Limits, Listening, TcpOptions, Token, Unserved, socket_beside};
use crate::cli::args::ApiArgs;
use crate::cli::exit::Exit;
use crate::cli::shell::Shell;

/// Takes the addresses, and says which.
pub(super) async fn listen(shell: &Shell, args: &ApiArgs) -> Result<Listening, Exit> {
    let socket = match &args.socket {
        Some(path) => path.clone(),
        None => socket_beside(&shell.state_path()?),
    };
    let bound = bind(args, socket).await.map_err(|error| {
        let cause = std::error::Error::source(&error);
        let cause = cause.map_or_else(String::new, |cause| format!(": {cause}"));
        let message = format!("the API is not served: {error}{cause}");
        shell.refuse(Exit::Usage, "usage", &message, Some(error.hint()))
    })?;
    if let Some(path) = bound.socket_path() {
        let path = path.display();
        shell.printer.note(&format!("serving `{path}`"));
    }
    if let Some(address) = bound.tcp_address() {
        let scheme = if args.tls_cert.is_some() {
            "https"
        } else {
            "http"
        };
        shell
            .printer
            .note(&format!("serving {scheme}://{address}/"));
    }
    Ok(bound)
}

async fn bind(args: &ApiArgs, socket: std::path::PathBuf) -> Result<Listening, Unserved> {
    let token = args.token_file.as_deref().map(Token::read).transpose()?;
    let tls = args.tls_cert.clone().zip(args.tls_key.clone());
    let tcp = args.listen.map(|address| TcpOptions {
        address,
        token,
        tls,
    });
    let options = ApiOptions {
        socket: Some(socket),
        tcp,
        limits: Limits::default(),
    };
    Listening::bind(options).await
}
