//! Labels of the algorithmic data sets against networkx (`reference/algorithms/`).

use itergnn_tasks::{
    Split,
    algorithms::{Algorithm, AlgorithmSpec, GraphFamily},
};
use serde::Deserialize;
use strum::VariantArray;

/// Weights are read from JSON as they were drawn; nothing is summed but in networkx's own comparisons.
const ROUNDING: f64 = 1e-7;

#[derive(Deserialize)]
struct Golden {
    entries: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    algorithm: Algorithm,
    edges: usize,
    sum: u64,
    answer: Vec<f64>,
}

#[test]
fn labels_agree_with_networkx() {
    let text = include_str!("../../../reference/algorithms/values.json");
    let mut entries = serde_json::from_str::<Golden>(text).unwrap().entries.into_iter();
    // The order of the example that wrote the samples.
    for &algorithm in Algorithm::VARIANTS {
        let tests = GraphFamily::VARIANTS.iter().map(|&family| AlgorithmSpec::test(algorithm, family, 40));
        for spec in std::iter::once(AlgorithmSpec::training(algorithm)).chain(tests) {
            for index in 0..6 {
                let (sample, entry) = (spec.sample(Split::Test.seed(0), index).unwrap(), entries.next().unwrap());
                let sum: u64 = sample.edges.iter().map(|&[a, b]| 31 * u64::from(a) + u64::from(b)).sum();
                assert_eq!((entry.algorithm, entry.edges, entry.sum), (algorithm, sample.edges.len(), sum));
                let parent = |&edge: &f32| if edge < 0.0 { -1.0 } else { f64::from(sample.edges[edge as usize][0]) };
                let answer: Vec<f64> = match algorithm.level() {
                    "pointer" => sample.target.iter().map(parent).collect(),
                    _ => sample.target.iter().map(|&value| f64::from(value)).collect(),
                };
                assert_eq!(answer.len(), entry.answer.len());
                let same = answer.iter().zip(&entry.answer).all(|(ours, theirs)| (ours - theirs).abs() <= ROUNDING);
                assert!(same, "{spec:?} {index}: {answer:?} {:?}", entry.answer);
            }
        }
    }
    assert!(entries.next().is_none());
}
