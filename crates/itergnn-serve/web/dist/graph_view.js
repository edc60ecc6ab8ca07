import { colourOf, shadeOf, SHADES, theme } from "./colours.js";
import { keepDrawn, prepare } from "./dom.js";
const MARGIN = 26;
const PLAIN = SHADES;
const REST = SHADES + 1;
function pixelOf(colour) {
    const hex = colour.match(/^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i);
    const parts = hex ? hex.slice(1).map((part) => parseInt(part, 16)) : (colour.match(/\d+/g) ?? []).map(Number);
    const [red = 0, green = 0, blue = 0] = parts;
    return (0xff000000 | (blue << 16) | (green << 8) | red) >>> 0;
}
const SMALL = 2.6;
export class GraphView {
    canvas;
    picture;
    states = null;
    marks = { from: -1, to: -1, found: null, exact: null };
    zoom = 1;
    offset = [0, 0];
    edges = null;
    edgesFor = "";
    waiting = false;
    layer = null;
    pixels = null;
    lastFrame = 0;
    focused = -1;
    constructor(canvas, picture) {
        this.canvas = canvas;
        this.picture = picture;
        keepDrawn(canvas, () => this.draw());
    }
    show(picture) {
        this.picture = picture;
        this.states = null;
        this.edges = null;
        this.edgesFor = "";
        this.focused = -1;
        this.draw();
    }
    setStates(states) {
        this.states = states;
        this.draw();
    }
    setMarks(marks) {
        this.marks = marks;
        this.draw();
    }
    refresh() {
        this.edgesFor = "";
        this.draw();
    }
    resetView() {
        this.zoom = 1;
        this.offset = [0, 0];
        this.draw();
    }
    zoomAt(x, y, factor) {
        const next = Math.min(Math.max(this.zoom * factor, 0.5), 60);
        const change = next / this.zoom;
        this.offset = [x - (x - this.offset[0]) * change, y - (y - this.offset[1]) * change];
        this.zoom = next;
        this.draw();
    }
    pan(dx, dy) {
        this.offset = [this.offset[0] + dx, this.offset[1] + dy];
        this.draw();
    }
    side() {
        return Math.max(10, Math.min(this.canvas.clientWidth, this.canvas.clientHeight) - 2 * MARGIN);
    }
    projection() {
        const side = this.side();
        const left = (this.canvas.clientWidth - side) / 2;
        const top = (this.canvas.clientHeight - side) / 2;
        const [zoom, [dx, dy]] = [this.zoom, this.offset];
        return ([x, y]) => [(left + x * side) * zoom + dx, (top + y * side) * zoom + dy];
    }
    toPlace(x, y) {
        const side = this.side();
        const left = (this.canvas.clientWidth - side) / 2;
        const top = (this.canvas.clientHeight - side) / 2;
        return [((x - this.offset[0]) / this.zoom - left) / side, ((y - this.offset[1]) / this.zoom - top) / side];
    }
    radius() {
        const nodes = Math.max(this.picture.positions.length, 1);
        const spacing = (this.side() * Math.sqrt(this.zoom)) / Math.sqrt(nodes);
        return Math.min(9, Math.max(1.3, spacing * 0.32));
    }
    nodeAt(x, y) {
        let [best, nearest] = [-1, Math.max(this.radius() + 5, 9) ** 2];
        const toCanvas = this.projection();
        this.picture.positions.forEach((place, node) => {
            const [px, py] = toCanvas(place);
            const distance = (px - x) ** 2 + (py - y) ** 2;
            if (distance < nearest) {
                [best, nearest] = [node, distance];
            }
        });
        return best;
    }
    nodeTowards(from, dx, dy) {
        const start = this.picture.positions[from];
        if (!start) {
            return this.picture.positions.length > 0 ? 0 : -1;
        }
        let [best, least] = [from, Infinity];
        this.picture.positions.forEach(([x, y], node) => {
            const [along, across] = [(x - start[0]) * dx + (y - start[1]) * dy, Math.abs((x - start[0]) * dy - (y - start[1]) * dx)];
            const cost = along + 2.5 * across;
            if (node !== from && along > 1e-6 && across <= along * 1.5 && cost < least) {
                [best, least] = [node, cost];
            }
        });
        return best;
    }
    draw() {
        if (!this.waiting) {
            this.waiting = true;
            requestAnimationFrame(() => {
                this.waiting = false;
                this.paint();
            });
        }
    }
    paint() {
        const started = performance.now();
        const { context, width, height } = prepare(this.canvas);
        if (width === 0 || height === 0) {
            return;
        }
        context.clearRect(0, 0, width, height);
        context.drawImage(this.edgePicture(width, height), 0, 0, width, height);
        if (this.marks.exact) {
            this.strokePath(context, this.marks.exact, theme("exact"), 7, 0.45);
        }
        if (this.marks.found) {
            this.strokePath(context, this.marks.found, theme("found"), 3, 1);
        }
        this.paintNodes(context);
        this.paintEnds(context);
        this.lastFrame = performance.now() - started;
    }
    edgePicture(width, height) {
        const ratio = window.devicePixelRatio || 1;
        const key = [width, height, ratio, this.zoom, ...this.offset, this.picture.graph.edges.length, theme("edge")].join();
        if (this.edges && this.edgesFor === key) {
            return this.edges;
        }
        const canvas = this.edges ?? document.createElement("canvas");
        canvas.width = Math.round(width * ratio);
        canvas.height = Math.round(height * ratio);
        const context = canvas.getContext("2d");
        context.setTransform(ratio, 0, 0, ratio, 0, 0);
        const many = this.picture.graph.edges.length;
        context.strokeStyle = theme("edge");
        context.globalAlpha = many > 20000 ? 0.35 : many > 4000 ? 0.6 : 1;
        context.lineWidth = many > 4000 ? 0.6 : many > 500 ? 1 : 1.6;
        const places = this.picture.positions.map(this.projection());
        context.beginPath();
        for (const [from, to] of this.picture.graph.edges) {
            const [a, b] = [places[from], places[to]];
            if (a && b) {
                context.moveTo(a[0], a[1]);
                context.lineTo(b[0], b[1]);
            }
        }
        context.stroke();
        this.edges = canvas;
        this.edgesFor = key;
        return canvas;
    }
    strokePath(context, path, colour, wide, alpha) {
        const toCanvas = this.projection();
        context.save();
        context.strokeStyle = colour;
        context.globalAlpha = alpha;
        context.lineWidth = Math.max(wide * 0.6, Math.min(wide, this.radius() * wide * 0.4));
        context.lineJoin = "round";
        context.lineCap = "round";
        context.beginPath();
        path.forEach((node, at) => {
            const place = this.picture.positions[node];
            if (place) {
                const [x, y] = toCanvas(place);
                if (at === 0) {
                    context.moveTo(x, y);
                }
                else {
                    context.lineTo(x, y);
                }
            }
        });
        context.stroke();
        context.restore();
    }
    shadeOfNode(node) {
        const state = this.states?.[node];
        return state === undefined ? PLAIN : state === 0 ? REST : shadeOf(state);
    }
    paintNodes(context) {
        const radius = this.radius();
        if (radius < SMALL) {
            this.paintPixels(context, radius);
            return;
        }
        const { clientWidth: width, clientHeight: height } = this.canvas;
        const toCanvas = this.projection();
        const buckets = Array.from({ length: SHADES + 2 }, () => []);
        this.picture.positions.forEach((place, node) => {
            const [x, y] = toCanvas(place);
            if (x >= -radius && y >= -radius && x <= width + radius && y <= height + radius) {
                buckets[this.shadeOfNode(node)].push(x, y);
            }
        });
        buckets.forEach((points, shade) => {
            context.fillStyle = shade === PLAIN ? theme("node") : shade === REST ? theme("rest") : colourOf(shade);
            context.beginPath();
            for (let at = 0; at < points.length; at += 2) {
                context.moveTo(points[at] + radius, points[at + 1]);
                context.arc(points[at], points[at + 1], radius, 0, 2 * Math.PI);
            }
            context.fill();
        });
    }
    paintPixels(context, radius) {
        const { width, height } = this.canvas;
        const layer = (this.layer ??= document.createElement("canvas"));
        if (layer.width !== width || layer.height !== height || !this.pixels) {
            [layer.width, layer.height] = [width, height];
            this.pixels = new ImageData(width, height);
        }
        const toCanvas = this.projection();
        const words = new Uint32Array(this.pixels.data.buffer);
        words.fill(0);
        const ratio = window.devicePixelRatio || 1;
        const side = Math.max(2, Math.round(2 * radius * ratio));
        const palette = Array.from({ length: SHADES + 2 }, (_, shade) => pixelOf(shade === PLAIN ? theme("node") : shade === REST ? theme("rest") : colourOf(shade)));
        this.picture.positions.forEach((place, node) => {
            const [x, y] = toCanvas(place);
            const [left, top] = [Math.round(x * ratio - side / 2), Math.round(y * ratio - side / 2)];
            if (left < 0 || top < 0 || left + side > width || top + side > height) {
                return;
            }
            const pixel = palette[this.shadeOfNode(node)];
            for (let row = top; row < top + side; row++) {
                words.fill(pixel, row * width + left, row * width + left + side);
            }
        });
        layer.getContext("2d").putImageData(this.pixels, 0, 0);
        context.drawImage(layer, 0, 0, this.canvas.clientWidth, this.canvas.clientHeight);
    }
    paintEnds(context) {
        const ends = [
            [this.marks.from, "A", theme("from")],
            [this.marks.to, "B", theme("to")],
        ];
        const radius = Math.max(this.radius() + 3, 8);
        const toCanvas = this.projection();
        for (const [node, letter, colour] of ends) {
            const place = this.picture.positions[node];
            if (!place) {
                continue;
            }
            const [x, y] = toCanvas(place);
            context.beginPath();
            context.arc(x, y, radius, 0, 2 * Math.PI);
            context.fillStyle = colour;
            context.fill();
            context.strokeStyle = theme("paper");
            context.lineWidth = 2;
            context.stroke();
            context.fillStyle = "#fff";
            context.font = `bold ${Math.round(radius * 1.25)}px system-ui, sans-serif`;
            context.textAlign = "center";
            context.textBaseline = "middle";
            context.fillText(letter, x, y + 0.5);
            context.textAlign = "left";
            context.textBaseline = "alphabetic";
        }
        const focus = this.picture.positions[this.focused];
        if (focus) {
            const [x, y] = toCanvas(focus);
            context.beginPath();
            context.arc(x, y, radius + 4, 0, 2 * Math.PI);
            context.strokeStyle = theme("focus");
            context.lineWidth = 2.5;
            context.stroke();
        }
    }
}
