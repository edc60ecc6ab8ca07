// The page of maps: paint heights, choose two ends, see the wave.

import { post, type HeightMap, type Model, type Sample } from "./api.js";
import { colourOf, shadeOf, theme } from "./colours.js";
import { makeDesk, type Desk } from "./controls.js";
import { byId, keepDrawn, prepare, say, sayError } from "./dom.js";
import type { Question, Stage } from "./thinking.js";

interface MapScene {
  map: HeightMap;
  from: number;
  to: number;
}

let scene: MapScene = { map: { rows: 2, columns: 2, heights: [0, 0, 0, 0], blocked_above: 0.8 }, from: 0, to: 3 };
const views: MapView[] = [];
let desk: Desk;

/** What a brush leaves: well above the threshold, or well below it. */
const BRUSHES: Record<string, number> = { wall: 0.95, ground: 0.3 };

class MapView implements Stage {
  private states: Uint8Array | null = null;
  private marks = { from: 0, to: 0, found: null as number[] | null, exact: null as number[] | null };
  private waiting = false;
  focused = -1;

  constructor(private readonly canvas: HTMLCanvasElement) {
    keepDrawn(canvas, () => this.draw());
  }

  setStates(states: Uint8Array | null): void {
    this.states = states;
    this.draw();
  }

  setMarks(marks: { from: number; to: number; found: number[] | null; exact: number[] | null }): void {
    this.marks = marks;
    this.draw();
  }

  private frame(): { left: number; top: number; cell: number } {
    const { rows, columns } = scene.map;
    const { clientWidth: width, clientHeight: height } = this.canvas;
    const cell = Math.max(1, Math.min((width - 16) / columns, (height - 16) / rows));
    return { left: (width - cell * columns) / 2, top: (height - cell * rows) / 2, cell };
  }

  cellAt(x: number, y: number): number {
    const { left, top, cell } = this.frame();
    const [row, column] = [Math.floor((y - top) / cell), Math.floor((x - left) / cell)];
    const inside = row >= 0 && column >= 0 && row < scene.map.rows && column < scene.map.columns;
    return inside ? row * scene.map.columns + column : -1;
  }

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
    const { context, width, height } = prepare(this.canvas);
    if (width === 0) {
      return;
    }
    context.clearRect(0, 0, width, height);
    const { left, top, cell } = this.frame();
    const { rows, columns, heights, blocked_above } = scene.map;
    const gap = cell > 7 ? 1 : 0;
    const wall = theme("wall");
    for (let at = 0; at < rows * columns; at++) {
      const [x, y] = [left + (at % columns) * cell, top + Math.floor(at / columns) * cell];
      const tall = heights[at]!;
      if (tall > blocked_above) {
        context.fillStyle = wall;
      } else if (this.states?.[at]) {
        context.fillStyle = colourOf(shadeOf(this.states[at] ?? 0));
      } else {
        context.fillStyle = `hsl(215 14% ${Math.round(88 - 30 * tall)}%)`;
      }
      context.fillRect(x, y, cell - gap, cell - gap);
    }
    this.paintPath(context, this.marks.exact, theme("exact"), 0.5, 0.5);
    this.paintPath(context, this.marks.found, theme("found"), 0.22, 1);
    this.paintEnd(context, scene.from, "A", theme("from"));
    this.paintEnd(context, scene.to, "B", theme("to"));
    if (this.focused >= 0) {
      const [x, y] = this.middle(this.focused);
      context.strokeStyle = theme("focus");
      context.lineWidth = 2.5;
      context.strokeRect(x - cell / 2, y - cell / 2, cell, cell);
    }
  }

  private middle(at: number): [number, number] {
    const { left, top, cell } = this.frame();
    const { columns } = scene.map;
    return [left + ((at % columns) + 0.5) * cell, top + (Math.floor(at / columns) + 0.5) * cell];
  }

  private paintPath(context: CanvasRenderingContext2D, path: number[] | null, colour: string, wide: number, alpha: number): void {
    if (!path) {
      return;
    }
    context.save();
    context.strokeStyle = colour;
    context.globalAlpha = alpha;
    context.lineWidth = Math.max(2, this.frame().cell * wide);
    context.lineJoin = "round";
    context.beginPath();
    path.forEach((cell, at) => {
      const [x, y] = this.middle(cell);
      if (at === 0) {
        context.moveTo(x, y);
      } else {
        context.lineTo(x, y);
      }
    });
    context.stroke();
    context.restore();
  }

  private paintEnd(context: CanvasRenderingContext2D, at: number, letter: string, colour: string): void {
    const [x, y] = this.middle(at);
    const radius = Math.max(7, this.frame().cell * 0.42);
    context.beginPath();
    context.arc(x, y, radius, 0, 2 * Math.PI);
    context.fillStyle = colour;
    context.fill();
    context.fillStyle = "#fff";
    context.font = `bold ${Math.round(radius * 1.2)}px system-ui, sans-serif`;
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.fillText(letter, x, y + 0.5);
    context.textAlign = "left";
    context.textBaseline = "alphabetic";
  }
}

function question(): Question {
  const { map, from, to } = scene;
  return { scene: { map }, from, to, nodes: map.rows * map.columns };
}

function mark(): void {
  views.forEach((view) => view.setMarks({ from: scene.from, to: scene.to, found: null, exact: null }));
  const blocked = scene.map.heights.filter((height) => height > scene.map.blocked_above).length;
  byId("map-count").textContent = `${scene.map.rows} x ${scene.map.columns} cells, ${blocked} of them blocked`;
}

function brush(): string {
  return document.querySelector<HTMLInputElement>('input[name="brush"]:checked')?.value ?? "wall";
}

/** Uses the brush on a cell, and says whether that changed anything. */
function paint(cell: number): boolean {
  if (cell < 0) {
    return false;
  }
  const kind = brush();
  if (kind === "from" || kind === "to") {
    if (scene[kind] === cell) {
      return false;
    }
    scene[kind] = cell;
    return true;
  }
  const height = BRUSHES[kind] ?? 0.3;
  if (scene.map.heights[cell] === height) {
    return false;
  }
  scene.map.heights[cell] = height;
  return true;
}

function listen(canvas: HTMLCanvasElement, view: MapView): void {
  let painting = false;
  let dirty = false;
  const at = (event: PointerEvent) => {
    if (paint(view.cellAt(event.offsetX, event.offsetY))) {
      if (!dirty) {
        desk.thinking.reset();
      }
      dirty = true;
      mark();
    }
  };
  canvas.addEventListener("pointerdown", (event) => {
    painting = true;
    canvas.setPointerCapture(event.pointerId);
    at(event);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (painting) {
      at(event);
    }
  });
  canvas.addEventListener("pointerup", () => {
    painting = false;
    if (dirty) {
      dirty = false;
      void desk.thinking.ask();
    }
  });
  canvas.addEventListener("keydown", (event) => {
    const { rows, columns } = scene.map;
    const moves: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns };
    const step = moves[event.key];
    if (step !== undefined) {
      const next = Math.max(view.focused, 0) + (view.focused < 0 ? 0 : step);
      view.focused = Math.min(Math.max(next, 0), rows * columns - 1);
      const kind = scene.map.heights[view.focused]! > scene.map.blocked_above ? "blocked" : "free";
      say(`row ${Math.floor(view.focused / columns)}, column ${view.focused % columns}: ${kind}`);
      view.draw();
    } else if ((event.key === " " || event.key === "Enter") && view.focused >= 0) {
      if (paint(view.focused)) {
        desk.thinking.reset();
        mark();
        void desk.thinking.ask();
      }
    } else {
      return;
    }
    event.preventDefault();
  });
}

async function generate(): Promise<void> {
  const value = (id: string) => Number(byId<HTMLInputElement>(id).value) || 0;
  try {
    const sample = await post<Sample>("/api/sample", { generator: "map", size: value("map-size"), seed: value("map-seed") });
    if (sample.map) {
      scene = { map: sample.map, from: sample.from, to: sample.to };
      desk.thinking.reset();
      mark();
      void desk.thinking.ask();
    }
  } catch (error) {
    sayError(error);
  }
}

function clear(): void {
  const side = Math.min(128, Math.max(2, Number(byId<HTMLInputElement>("map-size").value) || 16));
  const map = { rows: side, columns: side, heights: new Array<number>(side * side).fill(BRUSHES["ground"]!), blocked_above: 0.8 };
  scene = { map, from: side + 1, to: side * (side - 1) - 2 };
  desk.thinking.reset();
  mark();
  say("Open ground: paint walls between A and B, and the models answer when you let go.");
}

export function startMaps(): { offer(models: Model[]): void; begin(): void } {
  desk = makeDesk(
    "map",
    "maps",
    (canvas) => {
      const view = new MapView(canvas);
      views.push(view);
      listen(canvas, view);
      return view;
    },
    question,
  );
  byId("map-draw").addEventListener("click", () => void generate());
  byId("map-again").addEventListener("click", () => {
    const seed = byId<HTMLInputElement>("map-seed");
    seed.value = String((Number(seed.value) || 0) + 1);
    void generate();
  });
  byId("map-clear").addEventListener("click", clear);
  return { offer: (models) => desk.offer(models), begin: () => void generate() };
}
