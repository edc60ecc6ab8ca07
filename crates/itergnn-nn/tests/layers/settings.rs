//! Settings: contradictions are refused, defaults are those of the paper and of PyG.

use itergnn_kernels::settings::named;
use itergnn_nn::layers::{Aggregation, GridCnnConfig, LayerConfig, LayerKind, MessagePassing};
use itergnn_nn::{InitRng, Layer};
use strum::VariantNames;

use crate::fixtures::{EDGE_WIDTH, NODE_WIDTH, corner_graph, device, random, tensors, values};
use crate::zoo::HIDDEN;

fn base(kind: LayerKind) -> LayerConfig {
    LayerConfig::new(kind, NODE_WIDTH, HIDDEN, EDGE_WIDTH)
}

fn problem(config: LayerConfig) -> String {
    Layer::new(&config, &device(), &mut InitRng::new(0)).expect_err("the settings contradict each other").to_string()
}

#[test]
fn contradictions_are_named() {
    assert!(problem(LayerConfig { heads: 3, ..base(LayerKind::Gat) }).contains("3 concatenated heads"));
    assert!(problem(LayerConfig { use_edge_attributes: true, ..base(LayerKind::Gcn) }).contains("one edge attribute"));
    let weighted = LayerConfig { use_edge_attributes: true, edge_width: 1, homogeneous: true, ..base(LayerKind::Gcn) };
    assert!(problem(weighted).contains("self-loops"));
    let normalised = LayerConfig { batch_norm: true, homogeneous: true, ..base(LayerKind::Gin) };
    assert!(problem(normalised).contains("not homogeneous"));
    assert!(problem(LayerConfig { hidden_width: 0, ..base(LayerKind::Path) }).contains("at least one feature"));
    assert!(problem(LayerConfig { mlp_layers: 0, ..base(LayerKind::Gin) }).contains("at least one affine map"));
    let even = GridCnnConfig::new(1, 2, 4, 1).init(&device(), &mut InitRng::new(0));
    assert!(even.unwrap_err().to_string().contains("odd"));
}

#[test]
fn defaults_are_those_of_pyg() {
    let gcn = base(LayerKind::Gcn);
    assert!(gcn.add_self_loops && !gcn.use_edge_attributes && !gcn.homogeneous);
    let gat = base(LayerKind::Gat);
    assert_eq!((gat.heads, gat.concat, gat.negative_slope, gat.use_edge_attributes), (1, true, 0.2, false));
    let gin = base(LayerKind::Gin);
    assert_eq!((gin.eps, gin.train_eps, gin.batch_norm), (0.0, false, false));
}

#[test]
fn settings_survive_serialisation_and_refuse_unknown_names() {
    let config = LayerConfig { heads: 2, ..base(LayerKind::Gat) }.with_homogeneous(true);
    let text = serde_json::to_string(&config).unwrap();
    assert_eq!(serde_json::from_str::<LayerConfig>(&text).unwrap(), config);
    let short = r#"{"kind":"path-sim","input_width":3,"hidden_width":4,"edge_width":2}"#;
    assert_eq!(serde_json::from_str::<LayerConfig>(short).unwrap(), base(LayerKind::PathSim));
    assert!(serde_json::from_str::<LayerConfig>(&short.replace("edge_width", "edge_widht")).is_err());
}

#[test]
fn batch_normalisation_learns_running_statistics_in_training_only() {
    let graph = tensors(&corner_graph());
    let hidden = random(graph.nodes(), HIDDEN, 1);
    let config = LayerConfig { batch_norm: true, ..base(LayerKind::Gin) };
    let layer = Layer::new(&config, &device(), &mut InitRng::new(1)).unwrap();
    let Layer::Gin(gin) = &layer else { panic!("a GIN layer") };
    let before = values(gin.norms[0].running_mean.value_sync());
    let output = layer.forward(&graph, graph.node_attributes(), hidden);
    assert_eq!(output.dims(), [graph.nodes(), HIDDEN]);
    let after = values(gin.norms[0].running_mean.value_sync());
    assert_ne!(before, after);
}

#[test]
fn names_are_those_of_the_configuration_files() {
    for &name in LayerKind::VARIANTS {
        let kind: LayerKind = named("layer", name).unwrap();
        assert_eq!((serde_json::to_value(kind).unwrap(), kind.to_string()), (name.into(), name.to_owned()));
    }
    for &name in Aggregation::VARIANTS {
        let rule: Aggregation = named("aggregation", name).unwrap();
        assert_eq!((serde_json::to_value(rule).unwrap(), rule.to_string()), (name.into(), name.to_owned()));
    }
    let error = named::<LayerKind>("layer", "gnc").unwrap_err();
    assert!(error.contains("'gnc'") && error.contains("gcn"), "{error}");
}
