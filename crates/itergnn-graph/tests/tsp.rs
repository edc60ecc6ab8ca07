//! Laws of the travelling salesman solver, and its lengths against LKH (`reference/tsp/`).

use itergnn_graph::solvers::tsp::{
    DistanceMatrix, LocalSearchOptions, TspOptions, TspSolution, held_karp_dp, local_search, solve,
};
use proptest::prelude::*;
use serde::Deserialize;

#[derive(Deserialize)]
struct Golden {
    scale: f64,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    name: String,
    points: Vec<(f64, f64)>,
    length: i64,
}

/// Points on a grid: a wide one gives general position, a narrow one duplicates and ties.
fn points(sizes: std::ops::RangeInclusive<usize>) -> impl Strategy<Value = Vec<(f64, f64)>> {
    prop_oneof![Just(2_u16), Just(5), Just(1000)].prop_flat_map(move |width| {
        prop::collection::vec((1..=width, 1..=width).prop_map(|(x, y)| (f64::from(x), f64::from(y))), sizes.clone())
    })
}

/// Any symmetric distances, the triangle inequality broken more often than not.
fn any_matrix(sizes: std::ops::RangeInclusive<usize>) -> impl Strategy<Value = DistanceMatrix> {
    (sizes, prop_oneof![Just(2_i64), Just(20), Just(1_000_000_000)])
        .prop_flat_map(|(cities, longest)| (Just(cities), prop::collection::vec(0..=longest, cities * cities)))
        .prop_map(|(cities, values)| {
            DistanceMatrix::from_fn(cities, |i, j| values[i.min(j) * cities + i.max(j)]).expect("distances in range")
        })
}

fn euclidean(points: &[(f64, f64)]) -> DistanceMatrix {
    DistanceMatrix::from_points_scaled(points, 1e6).expect("finite points")
}

fn optimum(matrix: &DistanceMatrix) -> TspSolution {
    solve(matrix, &TspOptions::default())
}

fn assert_permutation(tour: &[u32], cities: usize) {
    let mut sorted = tour.to_vec();
    sorted.sort_unstable();
    assert_eq!(sorted, (0..cities as u32).collect::<Vec<_>>());
}

#[test]
fn lengths_match_lkh() {
    let golden: Golden =
        serde_json::from_str(include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../reference/tsp/values.json")))
            .unwrap();
    assert_eq!(golden.cases.len(), 30);
    for case in &golden.cases {
        let matrix = DistanceMatrix::from_points_scaled(&case.points, golden.scale).unwrap();
        let solution = optimum(&matrix);
        assert!(solution.proven, "{}", case.name);
        assert_eq!(solution.length, case.length, "{}", case.name);
    }
}

#[test]
fn same_tour_every_time() {
    let points: Vec<_> = (0..60_u32).map(|i| (f64::from(i * 7919 % 1009), f64::from(i * i * 31 % 997))).collect();
    let matrix = euclidean(&points);
    assert_eq!(optimum(&matrix), optimum(&matrix));
    let options = LocalSearchOptions { seed: 7, ..Default::default() };
    assert_eq!(local_search(&matrix, &options), local_search(&matrix, &options));
}

#[test]
fn an_odd_grid_needs_one_diagonal() {
    // 49 points, all sides equal: an enormous number of optimal tours, none of them with 49 unit steps.
    let points: Vec<_> = (0..49).map(|i| (f64::from(i % 7), f64::from(i / 7))).collect();
    let solution = optimum(&euclidean(&points));
    assert!(solution.proven);
    assert_eq!(solution.length, 48_000_000 + 1_414_214);
}

#[test]
fn two_hundred_cities_can_be_attempted() {
    let points: Vec<_> = (0..200_u32).map(|i| (f64::from(i * 7919 % 1009), f64::from(i * i * 31 % 997))).collect();
    let matrix = euclidean(&points);
    let solution = solve(&matrix, &TspOptions { node_limit: Some(20), ..Default::default() });
    assert_permutation(&solution.tour, 200);
    assert_eq!(solution.length, matrix.tour_length(&solution.tour));
    assert!(solution.lower_bound <= solution.length);
    // The gap of the 1-tree bound is below one percent on such instances; two leave room for the tour.
    assert!(solution.length - solution.lower_bound < solution.length / 50);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn branch_and_bound_equals_dynamic_program(points in points(1..=10)) {
        let matrix = euclidean(&points);
        prop_assert_eq!(optimum(&matrix).length, held_karp_dp(&matrix).unwrap().length);
    }

    #[test]
    fn copies_of_cities_are_merged_only_where_that_loses_nothing(places in any_matrix(2..=5)) {
        let matrix = DistanceMatrix::from_fn(2 * places.cities(), |i, j| places.distance(i / 2, j / 2)).unwrap();
        prop_assert_eq!(optimum(&matrix).length, held_karp_dp(&matrix).unwrap().length);
    }

    #[test]
    fn branch_and_bound_equals_dynamic_program_without_triangle_inequality(matrix in any_matrix(4..=11)) {
        let expected = held_karp_dp(&matrix).unwrap();
        assert_permutation(&expected.tour, matrix.cities());
        prop_assert_eq!(expected.length, matrix.tour_length(&expected.tour));
        prop_assert_eq!(optimum(&matrix).length, expected.length);
        // From a rough first tour the search has to find the optimum itself.
        let rough = LocalSearchOptions { kicks: Some(0), neighbours: 1, ..Default::default() };
        let searched = solve(&matrix, &TspOptions { local_search: rough, ..Default::default() });
        prop_assert_eq!(searched.length, expected.length);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn solutions_are_what_they_say(points in points(1..=30), node_limit in prop::option::of(0_u64..3)) {
        let matrix = euclidean(&points);
        let solution = solve(&matrix, &TspOptions { node_limit, ..Default::default() });
        assert_permutation(&solution.tour, points.len());
        prop_assert_eq!(solution.length, matrix.tour_length(&solution.tour));
        prop_assert!(solution.lower_bound <= solution.length);
        prop_assert_eq!(solution.proven, solution.lower_bound == solution.length);
        prop_assert!(node_limit.is_some() || solution.proven);
        let heuristic = local_search(&matrix, &LocalSearchOptions::default());
        assert_permutation(&heuristic.order, points.len());
        prop_assert_eq!(heuristic.length, matrix.tour_length(&heuristic.order));
        prop_assert!(solution.lower_bound <= heuristic.length);
    }

    #[test]
    fn length_does_not_depend_on_labels(
        (points, shuffled) in points(4..=30).prop_flat_map(|points| (Just(points.clone()), Just(points).prop_shuffle())),
    ) {
        prop_assert_eq!(optimum(&euclidean(&points)).length, optimum(&euclidean(&shuffled)).length);
    }

    #[test]
    fn length_scales_with_distances(matrix in any_matrix(4..=16), factor in 1_i64..1000) {
        let scaled = DistanceMatrix::from_fn(matrix.cities(), |i, j| factor * matrix.distance(i, j)).unwrap();
        prop_assert_eq!(optimum(&scaled).length, factor * optimum(&matrix).length);
    }
}
