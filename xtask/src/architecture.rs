//! Arrows between crates point down only.
//!
//! The tensor framework touches only `itergnn-nn` and `itergnn-train`; the ground truth cannot share a bug with the
//! models it judges; the kernels know nothing but slices; the command line sees nothing but the facade.

use anyhow::{Result, bail, ensure};

use crate::metadata::{Metadata, Package};

/// A crate of the workspace, the crates of the workspace it may use, and whether it may use Burn.
const RULES: &[(&str, &[&str], bool)] = &[
    ("itergnn-graph", &[], false),
    ("itergnn-tasks", &["itergnn-graph"], false),
    ("itergnn-kernels", &[], false),
    ("itergnn-cuda", &["itergnn-kernels"], false),
    ("itergnn-nn", &["itergnn-graph", "itergnn-kernels"], true),
    ("itergnn-train", &["itergnn-graph", "itergnn-tasks", "itergnn-cuda", "itergnn-nn"], true),
    ("itergnn", &["itergnn-graph", "itergnn-tasks", "itergnn-kernels", "itergnn-nn", "itergnn-train"], false),
    ("itergnn-serve", &["itergnn"], false),
    ("itergnn-cli", &["itergnn", "itergnn-serve"], false),
    ("itergnn-py", &["itergnn"], false),
    ("late-bridges", &["itergnn-graph"], false),
    ("xtask", &[], false),
];

/// Fails on the first forbidden edge of the dependency graph, naming it.
pub(crate) fn check() -> Result<()> {
    let members = Metadata::read()?.packages;
    ensure!(!members.is_empty(), "the workspace has no members");
    for package in &members {
        check_package(package, &members)?;
    }
    Ok(())
}

fn check_package(package: &Package, members: &[Package]) -> Result<()> {
    let name = package.name.as_str();
    let Some((_, allowed, burn)) = RULES.iter().find(|(known, ..)| *known == name) else {
        bail!("crate {name} has no rule; add it to RULES in xtask/src/architecture.rs");
    };
    for dependency in &package.dependencies {
        let to = dependency.name.as_str();
        let inside = members.iter().any(|member| member.name.as_str() == to);
        ensure!(!inside || allowed.contains(&to), "{name} must not depend on {to}: arrows point down only");
        let tensors = to == "burn" || to.starts_with("burn-");
        ensure!(!tensors || *burn, "{name} must not depend on {to}: only itergnn-nn and itergnn-train use tensors");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_workspace_obeys() {
        check().unwrap();
    }

    #[test]
    fn every_rule_points_down() {
        for (index, (name, allowed, _)) in RULES.iter().enumerate() {
            for below in *allowed {
                let at = RULES.iter().position(|(known, ..)| known == below).unwrap();
                assert!(at < index, "{name} -> {below}");
            }
        }
    }
}
