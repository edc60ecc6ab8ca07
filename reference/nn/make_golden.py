"""Writes golden-f32.safetensors and golden-f64.safetensors: outputs and all gradients of layers, controllers and whole models.

    pip install -r requirements.txt && python make_golden.py

Tensors are named `<case>/<what>`; the metadata key `cases` lists the cases with their configurations in the form the Rust crate reads. The loss whose
gradients are stored is sum(output * probe) plus the auxiliary loss.
"""

import json
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch_geometric.data import Batch, Data

from reference_layers import Gat, Gcn, Gin, Mlp, PathFamily, PointNet
from reference_models import Act, Confidence, Grid, Iter, JumpingKnowledge, Model, Readout, Shared, Stack

NODE, EDGE, HIDDEN, OUT = 3, 2, 5, 2


def corner_graphs(edge_width):
    """A hub with a self-loop, parallel edges and an isolated node; one node; several components; one node with a loop; a chain."""
    shapes = [
        (6, [(1, 0), (2, 0), (3, 0), (4, 0), (2, 2), (0, 1), (1, 3), (1, 3), (0, 4)]),
        (1, []),
        (6, [(0, 1), (1, 2), (2, 0), (1, 0), (3, 4), (4, 3)]),
        (1, [(0, 0)]),
        (4, [(0, 1), (1, 0), (1, 2), (2, 1), (2, 3), (3, 2)]),
    ]
    graphs = []
    for nodes, edges in shapes:
        edges = sorted(edges, key=lambda edge: edge[1])
        index = torch.tensor(edges, dtype=torch.long).reshape(-1, 2).t().contiguous()
        graphs.append(Data(x=torch.randn(nodes, NODE), edge_index=index, edge_attr=torch.rand(len(edges), edge_width) + 0.5))
    return Batch.from_data_list(graphs)


def layer_of(config, input_width=NODE):
    kind, homogeneous = config["kind"], config.get("homogeneous", False)
    hidden, edge = config["hidden_width"], config["edge_width"]
    leaky = config.get("output_activation") == "leaky-relu"
    if kind in ("mpnn-max", "path", "path-sim"):
        options = {k: config[k] for k in ("aggregation", "update", "isolated", "edge_order", "mlp_layers") if k in config}
        return PathFamily(kind, input_width, hidden, edge, homogeneous, **options)
    uses_edges = config.get("use_edge_attributes", False)
    if kind == "gcn":
        return Gcn(input_width, hidden, homogeneous, leaky, uses_edges, config.get("add_self_loops", True))
    if kind == "gat":
        edge_dim = edge if uses_edges else None
        return Gat(input_width, hidden, homogeneous, leaky, config.get("heads", 1), config.get("concat", True), edge_dim)
    if kind == "gin":
        return Gin(input_width, hidden, homogeneous, config.get("eps", 0.0), config.get("train_eps", False))
    return PointNet(input_width, hidden, homogeneous)


def layer_config(kind, hidden=HIDDEN, edge=EDGE, **options):
    return {"kind": kind, "input_width": NODE, "hidden_width": hidden, "edge_width": edge, **options}


def controller_of(config, layer, homogeneous, confidence_bias):
    kind = config["kind"]
    if kind == "stack":
        return Stack([layer_of(layer) for _ in range(config["layers"])])
    if kind == "shared":
        return Shared(layer_of(layer), config["steps"])
    scope = config.get("scope", "graph")
    bias = config.get("confidence_bias", confidence_bias)
    body = layer_of(layer)
    confidence = Confidence(scope, config.get("pooling", "max"), NODE, layer["hidden_width"], homogeneous, bias,
                            config.get("scale_free", False))
    cap = config.get("training_cap", 30)
    if kind == "act":
        return Act(body, confidence, scope, cap, config.get("ponder_cost", 0.01), config.get("epsilon", 0.01))
    decay = config.get("decay", 0.9999 if kind == "iter-decay" else 1.0)
    return Iter(body, confidence, scope, cap, config.get("epsilon", 1e-7), decay, config.get("normalised", False),
                config.get("settle"))


def model_of(config):
    prior = config.get("prior", "none")
    homogeneous, hidden = prior != "none", config["hidden_width"]
    embedding = Mlp(NODE, hidden, bias=prior != "full")
    blocks = [controller_of(b["controller"], b["layer"], homogeneous, prior != "full") for b in config["blocks"]]
    kind = config.get("readout", "max")
    outputs = config["output_width"] // 2 if kind == "head-tail" else config["output_width"]
    head = Mlp(hidden, outputs, 1, bias=prior != "full", final=config.get("head_final_activation", False))
    return Model(embedding, blocks, Readout(kind, NODE, hidden, homogeneous), head)


def model_config(controller, layer=None, prior="none", readout="max", blocks=1, **options):
    layer = dict(layer or layer_config("path-sim", aggregation="max"), homogeneous=prior != "none")
    return {"architecture": "graph", "node_width": NODE, "edge_width": layer["edge_width"], "output_width": OUT,
            "hidden_width": layer["hidden_width"], "prior": prior, "readout": readout,
            "blocks": [{"layer": layer, "controller": controller}] * blocks, **options}


def layer_cases():
    for homogeneous in (False, True):
        tag = "homo-" if homogeneous else ""
        yield f"{tag}mpnn-max", layer_config("mpnn-max", homogeneous=homogeneous)
        for kind in ("path", "path-sim"):
            for aggregation in ("attention", "max", "sparsemax"):
                yield f"{tag}{kind}-{aggregation}", layer_config(kind, homogeneous=homogeneous, aggregation=aggregation)
        yield f"{tag}gcn", layer_config("gcn", homogeneous=homogeneous)
        yield f"{tag}gat", layer_config("gat", homogeneous=homogeneous)
        yield f"{tag}gin", layer_config("gin", homogeneous=homogeneous)
        yield f"{tag}pointnet", layer_config("point-net", homogeneous=homogeneous)
    yield "mpnn-max-authors", layer_config("mpnn-max", update="replace", isolated="zero", edge_order="receiver-first")
    yield "gcn-edge-weight", layer_config("gcn", edge=1, use_edge_attributes=True)
    yield "gcn-no-loops", layer_config("gcn", add_self_loops=False)
    yield "gat-heads", layer_config("gat", hidden=6, heads=3)
    yield "gat-mean-heads-edges", layer_config("gat", heads=2, concat=False, use_edge_attributes=True)
    yield "gin-learned-eps", layer_config("gin", eps=0.3, train_eps=True)


def model_cases():
    """(name, config, modes)."""
    path = layer_config("path", aggregation="attention")
    both = ("training", "inference")
    yield "stack", model_config({"kind": "stack", "layers": 3}, path, "none"), both
    yield "shared-full", model_config({"kind": "shared", "steps": 4}, path, "full"), both
    yield "iter", model_config({"kind": "iter"}), both
    yield "iter-decay", model_config({"kind": "iter-decay", "decay": 0.9}, path, "core"), both
    yield "iter-decay-normalised", model_config({"kind": "iter-decay", "decay": 0.9, "normalised": True}), both
    settle = {"kind": "iter-decay", "decay": 0.95, "normalised": True, "settle": 0.3, "training_cap": 4}
    yield "iter-decay-settle", model_config(settle, prior="full"), both
    yield "iter-capped", model_config({"kind": "iter", "training_cap": 3}), ("training",)
    yield "iter-scale-free", model_config({"kind": "iter", "scale_free": True}, path, "full"), both
    yield "iter-node-wise", model_config({"kind": "iter", "scope": "node"}, path), both
    node = {"kind": "iter-decay", "decay": 0.9, "scope": "node", "normalised": True}
    yield "iter-decay-node-wise-two-blocks", model_config(node, prior="core", readout="sum", blocks=2), both
    settled_node = {"kind": "iter", "scope": "node", "settle": 0.3, "training_cap": 3}
    yield "iter-node-wise-settle", model_config(settled_node), ("training",)
    yield "iter-attention-pooling", model_config({"kind": "iter", "pooling": "attention"}, path, "full", "attention"), both
    yield "iter-head-tail", model_config({"kind": "iter", "pooling": "head-tail"}, path, readout="head-tail"), ("training",)
    yield "act", model_config({"kind": "act", "ponder_cost": 0.1}, path, "full"), both
    yield "act-capped", model_config({"kind": "act", "ponder_cost": 0.1, "training_cap": 1}), ("training",)
    yield "act-node-wise", model_config({"kind": "act", "scope": "node"}, path), both
    for readout in ("min", "mean", "node"):
        yield f"readout-{readout}", model_config({"kind": "stack", "layers": 1}, path, readout=readout), ("training",)
    gat = layer_config("gat", output_activation="leaky-relu")
    yield "iter-homo-gat", model_config({"kind": "iter-decay"}, gat, "full"), both
    gcn = layer_config("gcn", output_activation="leaky-relu")
    yield "gcn-stack", model_config({"kind": "stack", "layers": 4}, gcn, head_final_activation=True), both


def draw(module, seed):
    """Weights of useful size: large enough that confidences differ, small enough that nothing explodes."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in module.parameters():
            if parameter.dim() > 1:
                parameter.copy_(torch.randn(parameter.shape, generator=generator) / parameter.shape[-1] ** 0.5)


def main():
    here = Path(__file__).parent
    for dtype, suffix in ((torch.float32, "f32"), (torch.float64, "f64")):
        tensors, cases = {}, []
        put = lambda name, value: tensors.__setitem__(name, value.detach().clone().contiguous())
        torch.manual_seed(7)
        batches = {EDGE: corner_graphs(EDGE), 1: corner_graphs(1)}
        for width, batch in batches.items():
            put(f"graph-{width}/senders", batch.edge_index[0].int())
            put(f"graph-{width}/receivers", batch.edge_index[1].int())
            put(f"graph-{width}/node_offsets", batch.ptr.int())
            put(f"graph-{width}/node_attributes", batch.x)
            put(f"graph-{width}/edge_attributes", batch.edge_attr)

        def fresh(width):
            batch = batches[width].clone()
            batch.x = batch.x.to(dtype).requires_grad_()
            batch.edge_attr = batch.edge_attr.to(dtype).requires_grad_()
            return batch

        def record(name, module, prefix, output, auxiliary, inputs, probe_seed):
            probe = torch.randn(output.shape, generator=torch.Generator().manual_seed(probe_seed)).to(dtype)
            put(f"{name}/output", output)
            put(f"{name}/probe", probe)
            loss = (output * probe).sum()
            if auxiliary is not None:
                put(f"{name}/auxiliary", auxiliary.reshape(1))
                loss = loss + auxiliary
            loss.backward()
            for what, value in inputs.items():
                gradient = value.grad if value.grad is not None else torch.zeros_like(value)
                put(f"{name}/gradient/{what}", gradient)
            for path, parameter, layout in module.rust_parameters(prefix):
                path = path.removeprefix(".")
                gradient = parameter.grad if parameter.grad is not None else torch.zeros_like(parameter)
                put(f"{name}/parameter/{path}", layout(parameter))
                put(f"{name}/parameter-gradient/{path}", layout(gradient))

        seed = 100
        for name, config in layer_cases():
            seed += 1
            torch.manual_seed(seed)
            layer = layer_of(config)
            draw(layer, seed)
            layer = layer.to(dtype)
            graph = fresh(config["edge_width"])
            hidden = torch.randn(graph.x.size(0), config["hidden_width"], generator=torch.Generator().manual_seed(seed))
            hidden = hidden.to(dtype).requires_grad_()
            put(f"layer/{name}/hidden", hidden)
            output = layer(graph, graph.x, hidden)
            inputs = {"node_attributes": graph.x, "edge_attributes": graph.edge_attr, "hidden": hidden}
            record(f"layer/{name}", layer, "", output, None, inputs, seed)
            cases.append({"name": f"layer/{name}", "kind": "layer", "config": config})

        for name, config, modes in model_cases():
            seed += 1
            for mode in modes:
                torch.manual_seed(seed)
                model = model_of(config)
                draw(model, seed)
                model = model.to(dtype)
                graph = fresh(config["edge_width"])
                output, steps, auxiliary = model(graph, mode == "training")
                case = f"model/{name}/{mode}"
                inputs = {"node_attributes": graph.x, "edge_attributes": graph.edge_attr}
                record(case, model, "network", output, auxiliary, inputs, seed)
                cases.append({"name": case, "kind": "model", "config": config, "mode": mode, "steps": steps})

        torch.manual_seed(3)
        classifier = JumpingKnowledge(NODE, 4, 3, 2).to(dtype)
        config = {"architecture": "jumping-knowledge", "node_width": NODE, "output_width": 3, "hidden_width": 4,
                  "blocks": 2, "dropout": 0.0}
        graph = fresh(EDGE)
        output, _, _ = classifier(graph, True)
        record("model/gin-classifier/training", classifier, "network", output, None, {"node_attributes": graph.x}, 3)
        cases.append({"name": "model/gin-classifier/training", "kind": "model", "config": config, "mode": "training", "steps": []})

        torch.manual_seed(4)
        grid = Grid(3, 4, 2, 3, 2).to(dtype)
        config = {"architecture": "grid", "channels": 3, "output_width": 2, "hidden_width": 4, "kernel": 3, "depth": 2}
        images = torch.randn(2, 3, 5, 6).to(dtype).requires_grad_()
        put("grid/cnn/images", images)
        record("grid/cnn", grid, "network", grid(images), None, {"images": images}, 4)
        cases.append({"name": "grid/cnn", "kind": "grid", "config": config})

        versions = {"torch": torch.__version__, "torch_geometric": __import__("torch_geometric").__version__}
        metadata = {"cases": json.dumps(cases), "versions": json.dumps(versions)}
        save_file(tensors, here / f"golden-{suffix}.safetensors", metadata)
        print(suffix, len(cases), "cases", sum(t.numel() for t in tensors.values()), "numbers")
        for case in cases:
            if "steps" in case:
                print(case["name"], case["steps"])


if __name__ == "__main__":
    main()
