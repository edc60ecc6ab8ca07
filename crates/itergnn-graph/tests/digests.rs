//! The same seed gives the same graph, on every platform and in every later version: digests of what was generated are
//! committed here.
//!
//! A change that moves one of these numbers changes every data set and every result built on it. Do not update a digest
//! without saying so in CHANGELOG.md.

use itergnn_graph::{Graph, generators, generators::Generator, rng};

/// 64-bit FNV-1a.
fn digest(graph: &Graph) -> u64 {
    let edges = graph.edge_list();
    let words = edges.iter().flatten().copied().chain(graph.node_attributes().values().iter().map(|x| x.to_bits()));
    words
        .flat_map(u32::to_le_bytes)
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

#[test]
fn generators_keep_their_promises() {
    let sparse = Generator::Er { p: 0.02, directed: true };
    let undirected = Generator::Er { p: 0.5, directed: false };
    let flat = Generator::Knn { dimension: 2, k: 8 };
    let cases = [
        (Generator::ER, 0x7716_bfbf_c5c1_9aa7),
        (sparse, 0x03a0_3d8f_7598_fd21),
        (undirected, 0x6f4b_c4e7_20da_8dd5),
        (Generator::KNN, 0x4e9c_5c5b_0154_185f),
        (flat, 0x5a95_9ce9_8d48_faf1),
        (Generator::Planar, 0x54ff_5fee_229c_cf18),
        (Generator::LOBSTER, 0x0006_14fd_888a_96e5),
        (Generator::Regular { degree: 3 }, 0x46a0_209d_777f_ed45),
        (Generator::Tree, 0xed55_e151_373c_e4a5),
    ];
    let found: Vec<_> = cases
        .iter()
        .map(|(generator, _)| (*generator, digest(&generator.generate(100, &mut rng::sample(42, 7)).unwrap())))
        .collect();
    let list: Vec<_> = found.iter().map(|(generator, digest)| format!("{generator}: {digest:#018x}")).collect();
    assert_eq!(found, cases, "{list:#?}");
}

#[test]
fn structured_graphs_do_not_depend_on_anything() {
    let found = [
        generators::line(10),
        generators::cycle(10),
        generators::complete(6),
        generators::grid(3, 4),
        generators::cube(),
        generators::moebius_ladder(8),
    ]
    .map(|graph| digest(&graph.unwrap()));
    let expected = [
        0xe3d8_9784_dc7c_9ed5,
        0x7176_a4dd_0ec4_8a65,
        0xfbad_8714_a26f_5e35,
        0x995b_eaa9_6d74_bf78,
        0x7ab6_5274_cd4e_9fe5,
        0x831c_375c_8017_9465,
    ];
    assert_eq!(found, expected, "{found:#018x?}");
}
