//! This room is the manager with its network.
//!
//! It deliberately has one interface; a second would only be another claim to keep apart.

use serde_json::{Value, json};

use super::{BMC_VERSION, Documents, collection};
use crate::docs::identity::Identity;

const MANAGER: &str = "/redfish/v1/Managers/BMC";

pub(super) fn documents(identity: &Identity, systems: usize) -> Documents {
    let certificates = format!("{MANAGER}/NetworkProtocol/HTTPS/Certificates");
    let interfaces = format!("{MANAGER}/EthernetInterfaces");
    let port = format!("{interfaces}/eth0");
    vec![
        collection(
            "/redfish/v1/Managers",
            "ManagerCollection",
            "Managers",
            &[MANAGER.into()],
        ),
        (MANAGER.into(), manager(identity, systems)),
        (
            format!("{MANAGER}/NetworkProtocol"),
            protocol(identity, &certificates),
        ),
        collection(
            &certificates,
            "CertificateCollection",
            "Certificates of HTTPS",
            &[],
        ),
        collection(
            &interfaces,
            "EthernetInterfaceCollection",
            "Interfaces of the manager",
            std::slice::from_ref(&port),
        ),
        (port.clone(), interface(identity, &port)),
    ]
}

fn manager(identity: &Identity, systems: usize) -> Value {
    let servers: Vec<Value> = (1..=systems)
        .map(|number| json!({ "@odata.id": format!("/redfish/v1/Systems/{number}") }))
        .collect();
    json!({
        "@odata.id": MANAGER,
        "@odata.type": "#Manager.v1_17_0.Manager",
        "Id": "BMC",
        "Name": "Manager",
        "Description": "Baseboard management controller",
        "ManagerType": "BMC",
        "Manufacturer": "mock-bmc",
        "Model": "generic BMC",
        "UUID": identity.uuid_of("manager"),
        "ServiceEntryPointUUID": identity.uuid,
        "SerialNumber": identity.serial,
        "FirmwareVersion": BMC_VERSION,
        "DateTime": "1970-01-01T00:00:00Z",
        "DateTimeLocalOffset": "+00:00",
        "PowerState": "On",
        "Status": { "State": "Enabled", "Health": "OK" },
        "NetworkProtocol": { "@odata.id": format!("{MANAGER}/NetworkProtocol") },
        "EthernetInterfaces": { "@odata.id": format!("{MANAGER}/EthernetInterfaces") },
        "VirtualMedia": { "@odata.id": super::media::SLOTS },
        "Links": {
            "ManagerForServers": servers,
            "ManagerForServers@odata.count": servers.len(),
            "ManagerForChassis": [{ "@odata.id": "/redfish/v1/Chassis/1" }],
            "ManagerForChassis@odata.count": 1,
            "ManagerInChassis": { "@odata.id": "/redfish/v1/Chassis/1" },
            "ActiveSoftwareImage": { "@odata.id": "/redfish/v1/UpdateService/FirmwareInventory/BMC" },
            "SoftwareImages": [{ "@odata.id": "/redfish/v1/UpdateService/FirmwareInventory/BMC" }],
            "SoftwareImages@odata.count": 1,
            "Oem": { "MockBmc": {
                "@odata.type": "#MockBmcManager.v1_0_0.Links",
                "ManagerAttributes": [{ "@odata.id": super::attributes::URI }],
            } },
        },
        "Actions": {
            "#Manager.Reset": {
                "target": format!("{MANAGER}/Actions/Manager.Reset"),
                "ResetType@Redfish.AllowableValues": ["GracefulRestart", "ForceRestart"],
            },
        },
    })
}

fn protocol(identity: &Identity, certificates: &str) -> Value {
    json!({
        "@odata.id": format!("{MANAGER}/NetworkProtocol"),
        "@odata.type": "#ManagerNetworkProtocol.v1_9_1.ManagerNetworkProtocol",
        "Id": "NetworkProtocol",
        "Name": "Manager Network Protocol",
        "Status": { "State": "Enabled", "Health": "OK" },
        "HostName": identity.name,
        "FQDN": format!("{}.example", identity.name),
        "HTTP": { "ProtocolEnabled": false, "Port": 80 },
        "HTTPS": { "ProtocolEnabled": true, "Port": 443, "Certificates": { "@odata.id": certificates } },
        "IPMI": { "ProtocolEnabled": false, "Port": 623 },
        "NTP": { "ProtocolEnabled": false, "NTPServers": [], "Port": 123 },
        "SNMP": { "ProtocolEnabled": false, "Port": 161 },
        "SSH": { "ProtocolEnabled": true, "Port": 22 },
    })
}

fn interface(identity: &Identity, uri: &str) -> Value {
    json!({
        "@odata.id": uri,
        "@odata.type": "#EthernetInterface.v1_9_0.EthernetInterface",
        "Id": "eth0",
        "Name": "Manager interface",
        "Status": { "State": "Enabled", "Health": "OK" },
        "InterfaceEnabled": true,
        "LinkStatus": "LinkUp",
        "MACAddress": identity.mac,
        "PermanentMACAddress": identity.mac,
        "SpeedMbps": 1000,
        "AutoNeg": true,
        "FullDuplex": true,
        "MTUSize": 1500,
        "HostName": identity.name,
        "FQDN": format!("{}.example", identity.name),
        "DHCPv4": { "DHCPEnabled": true, "UseDNSServers": true, "UseGateway": true, "UseNTPServers": false },
        "IPv4Addresses": [{ "Address": "192.0.2.10", "SubnetMask": "255.255.255.0", "AddressOrigin": "DHCP", "Gateway": "192.0.2.1" }],
        "IPv4StaticAddresses": [],
        "IPv6Addresses": [],
        "NameServers": ["192.0.2.1"],
        "StaticNameServers": [],
        "VLAN": { "VLANEnable": false, "VLANId": 1 },
    })
}
