//! Samples are the same on every platform, for every number of threads, and from one version to the next.

use itergnn_tasks::{Samples, Split, Task, TaskSpec, shortest_path::Weights};
use strum::VariantArray;

/// Settings, as JSON, and the digests of the first two training samples of seed 0.
///
/// A change here means that published numbers can no longer be reproduced from their seeds: it belongs in the
/// changelog.
const DIGESTS: [(&str, [u64; 2]); 12] = [
    (r#"{"task":"shortest-path"}"#, [0xd5fa_5d7c_9a13_4632, 0xe98c_9eb8_c514_2a8e]),
    (r#"{"task":"shortest-path","weights":"0.5..1.5"}"#, [0x4037_f4de_2fce_ae0b, 0xd664_6f1c_12c0_6cb7]),
    (r#"{"task":"shortest-path","generator":"er","weights":"8..24"}"#, [0x5785_1027_d409_6113, 0x8ef8_5a27_4887_dbdb]),
    (r#"{"task":"shortest-path","generator":"knn"}"#, [0x69c3_da17_50a1_bd60, 0x554e_02ff_1ee4_2a62]),
    (
        r#"{"task":"shortest-path","generator":"planar","weights":"0.5..1.5"}"#,
        [0x743d_9e4b_cb6c_60b8, 0xe89c_b2d9_9a14_db27],
    ),
    (r#"{"task":"component-count"}"#, [0x3550_56bb_9194_b060, 0x6d62_6df0_2fbf_e337]),
    (
        r#"{"task":"component-count","generator":"lobster","size":"100"}"#,
        [0x1698_1d0c_373a_8441, 0x2890_c993_477d_bca8],
    ),
    (r#"{"task":"tsp"}"#, [0x9650_afec_0227_7744, 0xc603_373f_6ce0_f345]),
    (r#"{"task":"newton-balls"}"#, [0x365e_30d5_a07b_2d40, 0x7e9a_0ecc_9c63_9639]),
    (r#"{"task":"pacman"}"#, [0xb212_ecab_df6d_0597, 0x1cb6_2f8d_fc64_29c8]),
    (r#"{"task":"navigation"}"#, [0x8f37_27a2_17d4_6eb5, 0x8330_99a9_3e85_2cb9]),
    (r#"{"task":"regular-graphs","pair":"cubic"}"#, [0x4be8_8557_999b_c903, 0x0b9b_61c3_827e_2b64]),
];

#[test]
fn digests_are_those_committed() {
    let mut wrong = Vec::new();
    for (settings, committed) in DIGESTS {
        let spec: TaskSpec = serde_json::from_str(settings).unwrap();
        let sampler = spec.sampler().unwrap();
        let found = [0, 1].map(|index| sampler.sample(Split::Train.seed(0), index).unwrap().digest());
        if found != committed {
            wrong.push(format!("    (r#\"{settings}\"#, [{:#x}, {:#x}]),", found[0], found[1]));
        }
    }
    assert!(wrong.is_empty(), "these digests differ:\n{}", wrong.join("\n"));
}

#[test]
fn samples_do_not_depend_on_the_number_of_threads() {
    for task in [Task::ShortestPath, Task::ComponentCount, Task::Pacman, Task::Navigation, Task::NewtonBalls] {
        let mut spec = TaskSpec::paper(task);
        if task == Task::ShortestPath {
            spec.set_weights(Weights::PAPER).unwrap();
        }
        let sampler = spec.sampler().unwrap();
        let draw = |threads: usize| -> Vec<u64> {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let seed = Split::Validation.seed(5);
            // Beyond one chunk of the stream.
            pool.install(|| Samples::new(&*sampler, seed, 0..700).map(|sample| sample.unwrap().digest()).collect())
        };
        let alone: Vec<u64> =
            [0, 3, 699].map(|index| sampler.sample(Split::Validation.seed(5), index).unwrap().digest()).to_vec();
        let (one, four) = (draw(1), draw(4));
        assert_eq!(one, four, "{task}");
        assert_eq!(vec![one[0], one[3], one[699]], alone, "{task}");
    }
}

#[test]
fn splits_share_no_sample() {
    let sampler = TaskSpec::paper(Task::NewtonBalls).sampler().unwrap();
    let mut digests: Vec<u64> = Split::VARIANTS
        .iter()
        .flat_map(|&split| (0..200).map(move |index| (split, index)))
        .map(|(split, index)| sampler.sample(split.seed(0), index).unwrap().digest())
        .collect();
    digests.sort_unstable();
    digests.dedup();
    assert_eq!(digests.len(), 600);
}
