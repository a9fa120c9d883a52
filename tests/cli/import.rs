//! `inventory import`: what it prints is an inventory that loads, and holds no password.

use crate::lab::{Lab, Setup};

fn import(lab: &Lab, name: &str, content: &str) -> crate::life::Ended {
    std::fs::write(lab.path(name), content).unwrap();
    lab.redpipe(&["inventory", "import", name])
}

#[test]
fn a_table_of_the_lab_becomes_an_inventory_that_reaches_it() {
    let lab = Lab::start(Setup {
        tls: false,
        ..Setup::default()
    });
    let table = format!(
        "name,BMC address,username,password,server,rack\nmock-1,{},root,hunter2-Plain,golden,r04\n",
        lab.address("mock-1")
    );
    let printed = import(&lab, "hosts.csv", &table)
        .exits(0)
        .says("`password` is not taken over");
    assert!(
        !printed.stdout.contains("hunter2-Plain"),
        "{}",
        printed.stdout
    );
    let text = printed.stdout.replace(
        "{ env = \"BMC_PASSWORD_ROOT\" }",
        "{ file = \"../password\" }",
    );
    std::fs::write(lab.path("inventory/lab.toml"), text).unwrap();

    let checked = lab
        .redpipe(&["--output", "json", "inventory", "check"])
        .exits(0);
    let document = checked.document();
    assert_eq!(document["bmcs"][0]["bmc"], "mock-1");
    assert_eq!(document["bmcs"][0]["servers"][0]["server"], "golden");
}

#[test]
fn an_ansible_inventory_becomes_one_and_groups_are_labels() {
    let lab = Lab::start(Setup::default());
    let hosts = "[db]\nn[1:2] bmc_user=admin\n[db:vars]\nsite=north\n";
    let printed = import(&lab, "hosts", hosts).exits(0);
    let inventory: toml::Value = toml::from_str(&printed.stdout).unwrap();
    let bmcs = inventory["bmc"].as_array().unwrap();
    assert_eq!(bmcs.len(), 2);
    assert_eq!(bmcs[1]["name"].as_str(), Some("n2"));
    assert_eq!(bmcs[1]["labels"]["group.db"].as_str(), Some("yes"));
    assert_eq!(bmcs[1]["labels"]["site"].as_str(), Some("north"));
}

#[test]
fn a_file_that_cannot_be_taken_over_names_its_line_and_what_helps() {
    let lab = Lab::start(Setup::default());
    import(&lab, "hosts.csv", "name,address\nx,\"open\n")
        .exits(2)
        .says("hosts.csv:2: a quote is not closed");
    import(&lab, "hosts.yml", "all:\n  hosts:\n")
        .exits(2)
        .says("ansible-inventory -i FILE --list");
    import(&lab, "empty", "# nothing\n")
        .exits(2)
        .says("no host stands in the file");
}
