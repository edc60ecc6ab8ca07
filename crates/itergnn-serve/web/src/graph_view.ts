// A graph on a canvas: pan, zoom, states by colour, paths, and drawing by hand.

import type { Graph } from "./api.js";
import { colourOf, shadeOf, SHADES, theme } from "./colours.js";
import { keepDrawn, prepare } from "./dom.js";

export interface Picture {
  graph: Graph;
  positions: [number, number][];
}

export interface Marks {
  from: number;
  to: number;
  /** The path that was found, and an exact one. */
  found: number[] | null;
  exact: number[] | null;
}

const MARGIN = 26;

/** Shades beside those of the scale: no state is known, or the state is the least of all. */
const PLAIN = SHADES;
const REST = SHADES + 1;

/** A colour of the style sheet as a pixel, `#rrggbb` or `rgb(r g b)`, least byte first. */
function pixelOf(colour: string): number {
  const hex = colour.match(/^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i);
  const parts = hex ? hex.slice(1).map((part) => parseInt(part, 16)) : (colour.match(/\d+/g) ?? []).map(Number);
  const [red = 0, green = 0, blue = 0] = parts;
  return (0xff000000 | (blue << 16) | (green << 8) | red) >>> 0;
}

/** Nodes smaller than this are squares of pixels, written straight into a picture: ten thousand take a few milliseconds. */
const SMALL = 2.6;

export class GraphView {
  /** One byte per node, or nothing before a trace. */
  private states: Uint8Array | null = null;
  private marks: Marks = { from: -1, to: -1, found: null, exact: null };
  private zoom = 1;
  private offset: [number, number] = [0, 0];
  private edges: HTMLCanvasElement | null = null;
  private edgesFor = "";
  private waiting = false;
  private layer: HTMLCanvasElement | null = null;
  private pixels: ImageData | null = null;
  /** Milliseconds of the last frame, for whoever wants to know whether drawing is smooth. */
  lastFrame = 0;
  focused = -1;

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private picture: Picture,
  ) {
    keepDrawn(canvas, () => this.draw());
  }

  show(picture: Picture): void {
    this.picture = picture;
    this.states = null;
    this.edges = null;
    this.edgesFor = "";
    this.focused = -1;
    this.draw();
  }

  setStates(states: Uint8Array | null): void {
    this.states = states;
    this.draw();
  }

  setMarks(marks: Marks): void {
    this.marks = marks;
    this.draw();
  }

  /** The edges changed, but not the view. */
  refresh(): void {
    this.edgesFor = "";
    this.draw();
  }

  resetView(): void {
    this.zoom = 1;
    this.offset = [0, 0];
    this.draw();
  }

  zoomAt(x: number, y: number, factor: number): void {
    const next = Math.min(Math.max(this.zoom * factor, 0.5), 60);
    const change = next / this.zoom;
    this.offset = [x - (x - this.offset[0]) * change, y - (y - this.offset[1]) * change];
    this.zoom = next;
    this.draw();
  }

  pan(dx: number, dy: number): void {
    this.offset = [this.offset[0] + dx, this.offset[1] + dy];
    this.draw();
  }

  private side(): number {
    return Math.max(10, Math.min(this.canvas.clientWidth, this.canvas.clientHeight) - 2 * MARGIN);
  }

  /** Where places of the unit square lie on the canvas; made once per picture, because asking for its size is slow. */
  private projection(): (place: [number, number]) => [number, number] {
    const side = this.side();
    const left = (this.canvas.clientWidth - side) / 2;
    const top = (this.canvas.clientHeight - side) / 2;
    const [zoom, [dx, dy]] = [this.zoom, this.offset];
    return ([x, y]) => [(left + x * side) * zoom + dx, (top + y * side) * zoom + dy];
  }

  /** The place of the unit square under a point of the canvas. */
  toPlace(x: number, y: number): [number, number] {
    const side = this.side();
    const left = (this.canvas.clientWidth - side) / 2;
    const top = (this.canvas.clientHeight - side) / 2;
    return [((x - this.offset[0]) / this.zoom - left) / side, ((y - this.offset[1]) / this.zoom - top) / side];
  }

  private radius(): number {
    const nodes = Math.max(this.picture.positions.length, 1);
    const spacing = (this.side() * Math.sqrt(this.zoom)) / Math.sqrt(nodes);
    return Math.min(9, Math.max(1.3, spacing * 0.32));
  }

  /** The node under a point of the canvas, or -1. */
  nodeAt(x: number, y: number): number {
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

  /** The next node in a direction, for the keyboard. */
  nodeTowards(from: number, dx: number, dy: number): number {
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

  /** Draws with the next frame, once, however often it is asked. */
  draw(): void {
    if (!this.waiting) {
      this.waiting = true;
      requestAnimationFrame(() => {
        this.waiting = false;
        this.paint();
      });
    }
  }

  private paint(): void {
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

  /** The edges as a picture, drawn again only when the view or the graph changed. */
  private edgePicture(width: number, height: number): HTMLCanvasElement {
    const ratio = window.devicePixelRatio || 1;
    const key = [width, height, ratio, this.zoom, ...this.offset, this.picture.graph.edges.length, theme("edge")].join();
    if (this.edges && this.edgesFor === key) {
      return this.edges;
    }
    const canvas = this.edges ?? document.createElement("canvas");
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    const context = canvas.getContext("2d")!;
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

  private strokePath(context: CanvasRenderingContext2D, path: number[], colour: string, wide: number, alpha: number): void {
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
        } else {
          context.lineTo(x, y);
        }
      }
    });
    context.stroke();
    context.restore();
  }

  /** The colour of a node: resting nodes step back, so that the wave is seen. */
  private shadeOfNode(node: number): number {
    const state = this.states?.[node];
    return state === undefined ? PLAIN : state === 0 ? REST : shadeOf(state);
  }

  private paintNodes(context: CanvasRenderingContext2D): void {
    const radius = this.radius();
    if (radius < SMALL) {
      this.paintPixels(context, radius);
      return;
    }
    // Shade by shade: one path per colour, however many nodes there are.
    const { clientWidth: width, clientHeight: height } = this.canvas;
    const toCanvas = this.projection();
    const buckets: number[][] = Array.from({ length: SHADES + 2 }, () => []);
    this.picture.positions.forEach((place, node) => {
      const [x, y] = toCanvas(place);
      if (x >= -radius && y >= -radius && x <= width + radius && y <= height + radius) {
        buckets[this.shadeOfNode(node)]!.push(x, y);
      }
    });
    buckets.forEach((points, shade) => {
      context.fillStyle = shade === PLAIN ? theme("node") : shade === REST ? theme("rest") : colourOf(shade);
      context.beginPath();
      for (let at = 0; at < points.length; at += 2) {
        context.moveTo(points[at]! + radius, points[at + 1]!);
        context.arc(points[at]!, points[at + 1]!, radius, 0, 2 * Math.PI);
      }
      context.fill();
    });
  }

  private paintPixels(context: CanvasRenderingContext2D, radius: number): void {
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
    const palette = Array.from({ length: SHADES + 2 }, (_, shade) =>
      pixelOf(shade === PLAIN ? theme("node") : shade === REST ? theme("rest") : colourOf(shade)),
    );
    this.picture.positions.forEach((place, node) => {
      const [x, y] = toCanvas(place);
      const [left, top] = [Math.round(x * ratio - side / 2), Math.round(y * ratio - side / 2)];
      if (left < 0 || top < 0 || left + side > width || top + side > height) {
        return;
      }
      const pixel = palette[this.shadeOfNode(node)]!;
      for (let row = top; row < top + side; row++) {
        words.fill(pixel, row * width + left, row * width + left + side);
      }
    });
    layer.getContext("2d")!.putImageData(this.pixels, 0, 0);
    context.drawImage(layer, 0, 0, this.canvas.clientWidth, this.canvas.clientHeight);
  }

  private paintEnds(context: CanvasRenderingContext2D): void {
    const ends: [number, string, string][] = [
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
