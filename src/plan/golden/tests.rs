//! Claims about what a golden machine's attributes are worth to others.

use std::sync::Arc;

use serde_json::json;

use super::*;
use crate::model::setting::{
    AttributeDefinition, AttributeRegistry, AttributeResource, AttributeType, Dependency,
    DependencyTerm, EnumValue,
};
use crate::plan::testing::look;

fn choice(values: &[&str]) -> AttributeDefinition {
    let values = values.iter().map(|name| EnumValue {
        name: (*name).to_owned(),
        display_name: None,
    });
    AttributeDefinition {
        kind: Some(AttributeType::Enumeration),
        values: values.collect(),
        ..AttributeDefinition::default()
    }
}

fn view(attributes: &[(&str, Value, AttributeDefinition)]) -> SettingsView {
    let current = attributes
        .iter()
        .map(|(name, value, _)| ((*name).to_owned(), value.clone()));
    let known = attributes
        .iter()
        .map(|(name, _, definition)| ((*name).to_owned(), definition.clone()));
    SettingsView {
        resources: vec![AttributeResource {
            current: current.collect(),
            ..AttributeResource::default()
        }],
        registry: Some(Arc::new(AttributeRegistry {
            attributes: known.collect(),
            ..AttributeRegistry::default()
        })),
        config_jobs: Vec::new(),
    }
}

fn defaults(of: &[(&str, Value)]) -> FactoryAttributes {
    let known = of.iter().map(|(name, default)| {
        let attribute = FactoryAttribute {
            default: Some(default.clone()),
            display_name: None,
        };
        ((*name).to_owned(), attribute)
    });
    known.collect()
}

fn left_out(golden: &Golden, why: LeftOut) -> Vec<&str> {
    let names = golden.left_out.get(&why);
    names.into_iter().flatten().map(String::as_str).collect()
}

#[test]
fn what_is_as_it_comes_from_the_factory_is_asked_of_nobody_in_whatever_type_that_is_told() {
    let number = AttributeDefinition {
        kind: Some(AttributeType::Integer),
        ..AttributeDefinition::default()
    };
    let view = view(&[
        ("Cores", json!(4), number.clone()),
        ("Mode", json!("Fast"), choice(&["Slow", "Fast"])),
        ("Threads", json!("2"), number),
        ("Unsaid", json!("x"), AttributeDefinition::default()),
    ]);
    let factory = defaults(&[
        ("Cores", json!("4")),
        ("Mode", json!("Slow")),
        ("Threads", json!(1)),
    ]);
    let golden = golden(&view, &factory, &OwnTexts::default());
    let wanted = json!({"Mode": "Fast", "Threads": 2, "Unsaid": "x"});
    assert_eq!(json!(golden.flow), json!([wanted]));
    assert_eq!(left_out(&golden, LeftOut::Default), ["Cores"]);
    assert_eq!(golden.without_default, 1);
}

#[test]
fn what_names_one_machine_or_a_secret_is_asked_of_nobody() {
    let text = AttributeDefinition::default;
    let locked = AttributeDefinition {
        read_only: true,
        ..text()
    };
    let view = view(&[
        ("AdminPassword", json!("hunter2"), text()),
        ("BootPath", json!("PciRoot(0)/MAC(02AB34CD56EF,0)"), text()),
        ("IscsiInitiatorName", json!("iqn.x"), text()),
        ("Motto", json!("made of SN-4711-A"), text()),
        ("Revision", json!("7"), locked),
        ("SerialComm", json!("OnConRedir"), text()),
        ("ServerAssetTag", json!("A1"), text()),
        ("SystemUUID", json!(""), text()),
    ]);
    let own = OwnTexts::of(&look(None, &[]), ["SN-4711-A"]);
    let golden = golden(&view, &FactoryAttributes::new(), &own);
    assert_eq!(json!(golden.flow), json!([{"SerialComm": "OnConRedir"}]));
    assert_eq!(left_out(&golden, LeftOut::Secret), ["AdminPassword"]);
    assert_eq!(left_out(&golden, LeftOut::ReadOnly), ["Revision"]);
    assert_eq!(
        left_out(&golden, LeftOut::ThisMachine),
        [
            "BootPath",
            "IscsiInitiatorName",
            "Motto",
            "ServerAssetTag",
            "SystemUUID"
        ]
    );
}

#[test]
fn what_unlocks_another_stands_before_it() {
    let switch = || choice(&["Off", "On"]);
    let mut view = view(&[
        ("Alone", json!("On"), switch()),
        ("Profile", json!("Custom"), choice(&["Balanced", "Custom"])),
        ("Turbo", json!("Off"), switch()),
    ]);
    let locks = Dependency {
        from: vec![DependencyTerm {
            attribute: "Profile".to_owned(),
            property: "CurrentValue".to_owned(),
            condition: "NEQ".to_owned(),
            value: json!("Custom"),
        }],
        joined_by_or: false,
        to_attribute: "Turbo".to_owned(),
        to_property: "ReadOnly".to_owned(),
        to_value: json!(true),
    };
    if let Some(registry) = view.registry.as_mut() {
        Arc::make_mut(registry).dependencies.push(locks);
    }
    let factory = defaults(&[
        ("Alone", json!("Off")),
        ("Profile", json!("Balanced")),
        ("Turbo", json!("On")),
    ]);
    let golden = golden(&view, &factory, &OwnTexts::default());
    let wanted = json!([{"Alone": "On", "Profile": "Custom"}, {"Turbo": "Off"}]);
    assert_eq!(json!(golden.flow), wanted);
}
