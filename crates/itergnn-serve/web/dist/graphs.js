import { post, upload } from "./api.js";
import { makeDesk } from "./controls.js";
import { byId, say, sayError } from "./dom.js";
import { GraphView } from "./graph_view.js";
const empty = () => ({ graph: { nodes: 0, edges: [], weights: [], undirected: true }, positions: [], from: -1, to: -1 });
let scene = empty();
const views = [];
let desk;
let edgeFrom = -1;
function tool() {
    return (document.querySelector('input[name="tool"]:checked')?.value ?? "look");
}
function question() {
    const { graph, from, to } = scene;
    if (graph.nodes < 2 || from < 0 || to < 0) {
        say("Draw at least two nodes and choose both ends, A and B.", true);
        return null;
    }
    return { scene: { graph }, from, to, nodes: graph.nodes };
}
function mark() {
    for (const view of views) {
        view.setMarks({ from: scene.from, to: scene.to, found: null, exact: null });
    }
    const { nodes, edges } = scene.graph;
    byId("graph-count").textContent = `${nodes.toLocaleString("en")} nodes, ${edges.length.toLocaleString("en")} edges`;
    byId("graph-from").value = scene.from >= 0 ? String(scene.from) : "";
    byId("graph-to").value = scene.to >= 0 ? String(scene.to) : "";
}
function show(sample) {
    if (!sample.graph || !sample.positions) {
        return;
    }
    scene = { graph: sample.graph, positions: sample.positions, from: sample.from, to: sample.to };
    edgeFrom = -1;
    for (const view of views) {
        view.resetView();
        view.show(scene);
    }
    desk.thinking.reset();
    mark();
    say((sample.notes ?? []).join(" ") || "Here it is: A and B are the ends. Ask the models, or choose other ends.");
    void desk.thinking.ask();
}
function changed() {
    desk.thinking.reset();
    for (const view of views) {
        view.refresh();
    }
    mark();
}
function useTool(which, node, place) {
    if (which === "from" && node >= 0) {
        scene.from = node;
        desk.thinking.reset();
        mark();
        void desk.thinking.ask();
    }
    else if (which === "to" && node >= 0) {
        scene.to = node;
        desk.thinking.reset();
        mark();
        void desk.thinking.ask();
    }
    else if (which === "node" && node < 0) {
        scene.positions.push(place);
        scene.graph.nodes++;
        if (scene.from < 0) {
            scene.from = 0;
        }
        else if (scene.to < 0) {
            scene.to = scene.graph.nodes - 1;
        }
        changed();
    }
    else if (which === "edge" && node >= 0) {
        joinTo(node);
    }
    else if (which === "erase" && node >= 0) {
        erase(node);
    }
}
function joinTo(node) {
    if (edgeFrom < 0 || edgeFrom === node) {
        edgeFrom = node;
        views.forEach((view) => {
            view.focused = node;
            view.draw();
        });
        say(`Edge from node ${node}: now choose where it leads.`);
        return;
    }
    const [a, b] = [edgeFrom, node];
    const known = scene.graph.edges.some(([x, y]) => (x === a && y === b) || (scene.graph.undirected && x === b && y === a));
    if (!known) {
        scene.graph.edges.push([a, b]);
        if (scene.graph.weights.length > 0) {
            scene.graph.weights.push(1);
        }
        say(`Nodes ${a} and ${b} are joined.`);
    }
    edgeFrom = node;
    changed();
}
function erase(node) {
    const keep = scene.graph.edges.map(([a, b]) => a !== node && b !== node);
    const moved = (other) => (other > node ? other - 1 : other);
    scene.graph.weights = scene.graph.weights.filter((_, at) => keep[at]);
    scene.graph.edges = scene.graph.edges.filter((_, at) => keep[at]).map(([a, b]) => [moved(a), moved(b)]);
    scene.positions.splice(node, 1);
    scene.graph.nodes--;
    scene.from = scene.from === node ? -1 : moved(scene.from);
    scene.to = scene.to === node ? -1 : moved(scene.to);
    edgeFrom = -1;
    changed();
}
function listen(canvas, view) {
    let drag = null;
    canvas.addEventListener("pointerdown", (event) => {
        drag = { x: event.offsetX, y: event.offsetY, moved: false };
        canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
        if (drag && tool() === "look") {
            view.pan(event.offsetX - drag.x, event.offsetY - drag.y);
            drag = { x: event.offsetX, y: event.offsetY, moved: true };
        }
    });
    canvas.addEventListener("pointerup", (event) => {
        if (drag && !drag.moved) {
            useTool(tool(), view.nodeAt(event.offsetX, event.offsetY), view.toPlace(event.offsetX, event.offsetY));
        }
        drag = null;
    });
    canvas.addEventListener("wheel", (event) => {
        event.preventDefault();
        view.zoomAt(event.offsetX, event.offsetY, Math.exp(-event.deltaY * 0.0015));
    }, { passive: false });
    canvas.addEventListener("keydown", (event) => {
        if (keys(event, view)) {
            event.preventDefault();
        }
    });
}
function keys(event, view) {
    const directions = {
        ArrowLeft: [-1, 0],
        ArrowRight: [1, 0],
        ArrowUp: [0, -1],
        ArrowDown: [0, 1],
    };
    const direction = directions[event.key];
    if (direction) {
        view.focused = view.nodeTowards(view.focused, ...direction);
        view.draw();
        say(view.focused >= 0 ? `node ${view.focused}` : "there are no nodes");
        return true;
    }
    const [width, height] = [view.toPlace(0, 0), view.toPlace(1, 1)];
    const middle = [(width[0] + height[0]) / 2, (width[1] + height[1]) / 2];
    const tools = { a: "from", b: "to", e: "edge", Delete: "erase", n: "node" };
    const chosen = tools[event.key];
    if (chosen === "node") {
        const at = scene.positions[view.focused] ?? middle;
        const angle = scene.graph.nodes * 2.4;
        useTool("node", -1, [at[0] + 0.12 * Math.cos(angle), at[1] + 0.12 * Math.sin(angle)]);
        view.focused = scene.graph.nodes - 1;
        say(`node ${view.focused} added`);
        return true;
    }
    if (chosen && view.focused >= 0) {
        useTool(chosen, view.focused, middle);
        return true;
    }
    if (event.key === "+" || event.key === "-") {
        view.zoomAt(200, 200, event.key === "+" ? 1.25 : 0.8);
        return true;
    }
    if (event.key === "0") {
        view.resetView();
        return true;
    }
    return false;
}
async function generate() {
    const value = (id) => byId(id).value;
    const body = {
        generator: value("graph-generator"),
        size: Number(value("graph-size")),
        seed: Number(value("graph-seed")) || 0,
        weighted: byId("graph-weighted").checked,
    };
    try {
        show(await post("/api/sample", body));
    }
    catch (error) {
        sayError(error);
    }
}
async function readFile(file) {
    say(`reading ${file.name} ..`);
    try {
        show(await upload(file));
        say(`${file.name}: ${scene.graph.nodes} nodes, ${scene.graph.edges.length} edges.`);
    }
    catch (error) {
        sayError(error);
    }
}
function dropZone() {
    const zone = byId("graphs");
    zone.addEventListener("dragover", (event) => {
        event.preventDefault();
        zone.classList.add("dropping");
    });
    zone.addEventListener("dragleave", () => zone.classList.remove("dropping"));
    zone.addEventListener("drop", (event) => {
        event.preventDefault();
        zone.classList.remove("dropping");
        const file = event.dataTransfer?.files[0];
        if (file) {
            void readFile(file);
        }
    });
    const input = byId("graph-file");
    input.addEventListener("change", () => {
        const file = input.files?.[0];
        if (file) {
            void readFile(file);
        }
        input.value = "";
    });
}
function chooseEnd(id, set) {
    const input = byId(id);
    input.addEventListener("change", () => {
        const node = Number(input.value);
        if (input.value === "" || !Number.isInteger(node) || node < 0 || node >= scene.graph.nodes) {
            say(`There is no node ${input.value}: they are numbered from 0 to ${scene.graph.nodes - 1}.`, true);
            mark();
            return;
        }
        set(node);
        desk.thinking.reset();
        mark();
        void desk.thinking.ask();
    });
}
export function startGraphs() {
    desk = makeDesk("graph", "paths", (canvas) => {
        const view = new GraphView(canvas, scene);
        views.push(view);
        listen(canvas, view);
        return view;
    }, question);
    Object.assign(window, { itergnnFrameTime: () => views[0]?.lastFrame ?? 0 });
    byId("graph-draw").addEventListener("click", () => void generate());
    byId("graph-again").addEventListener("click", () => {
        const seed = byId("graph-seed");
        seed.value = String((Number(seed.value) || 0) + 1);
        void generate();
    });
    byId("graph-empty").addEventListener("click", () => {
        scene = empty();
        edgeFrom = -1;
        views.forEach((view) => {
            view.resetView();
            view.show(scene);
        });
        desk.thinking.reset();
        mark();
        byId("tool-node").checked = true;
        say("An empty sheet: click to add nodes, then choose Edge and click from node to node.");
    });
    chooseEnd("graph-from", (node) => (scene.from = node));
    chooseEnd("graph-to", (node) => (scene.to = node));
    dropZone();
    return { offer: (models) => desk.offer(models), begin: () => void generate() };
}
