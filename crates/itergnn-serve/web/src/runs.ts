// The page of runs: live curves, tables, comparison.

import { get, type Run, type RunDetails } from "./api.js";
import { drawChart, type Series } from "./chart.js";
import { CURVES } from "./colours.js";
import { byId, keepDrawn, make, number, say, sayError } from "./dom.js";

/** A line of a run's metrics; which fields there are depends on its kind. */
interface Line {
  kind: "step" | "epoch" | "play";
  step: number;
  epoch?: number;
  loss?: number | null;
  train_loss?: number | null;
  iterations?: number;
  samples_per_second?: number;
  steps_per_second?: number;
  seconds?: number;
  validation?: Record<string, number | null>;
  validation_lifted?: Record<string, number | null>;
  training_success?: number | null;
  validation_success?: number | null;
  is_best?: boolean;
  /** Whether the values of an epoch come from fitting the last parts exactly rather than from gradient steps. */
  finished?: boolean;
}

/** Milliseconds until a run is asked again whether it has a result. */
const LOOK_AGAIN = 2000;

class Watched {
  readonly lines: Line[] = [];
  details: RunDetails | null = null;
  private readonly source: EventSource;
  /** Whether everything that was there is here. */
  caughtUp = false;
  private timer = 0;

  constructor(
    readonly name: string,
    readonly colour: string,
    private readonly changed: () => void,
  ) {
    this.source = new EventSource(`/api/runs/${encodeURIComponent(name)}/metrics`);
    this.source.addEventListener("message", (event: MessageEvent<string>) => {
      try {
        this.lines.push(JSON.parse(event.data) as Line);
      } catch {
        // A line that is no JSON is left out.
      }
      changed();
    });
    this.source.addEventListener("reset", () => {
      this.lines.length = 0;
      changed();
    });
    this.source.addEventListener("end", () => {
      this.caughtUp = true;
      changed();
    });
    this.look();
  }

  /** Reads configuration and result, and looks again until there is a result. */
  private look(): void {
    get<RunDetails>(`/api/runs/${encodeURIComponent(this.name)}`).then((details) => {
      this.details = details;
      this.changed();
      if (!details.finished && this.source.readyState !== EventSource.CLOSED) {
        this.timer = window.setTimeout(() => this.look(), LOOK_AGAIN);
      }
    }, sayError);
  }

  close(): void {
    window.clearTimeout(this.timer);
    this.source.close();
  }

  latest(kind?: Line["kind"]): Line | undefined {
    return this.lines.filter((line) => !kind || line.kind === kind).at(-1);
  }

  /** Steps per second over the last stretch of the log. */
  speed(): number | null {
    const timed = this.lines.filter((line) => line.seconds !== undefined && line.kind !== "epoch");
    const [first, last] = [timed.at(-20) ?? timed[0], timed.at(-1)];
    if (!first || !last || last.seconds === first.seconds) {
      return last?.steps_per_second ?? null;
    }
    return (last.step - first.step) / (last.seconds! - first.seconds!);
  }
}

/** Most runs at a time: each holds a connection, and a browser opens only six to one server. */
const MOST = 4;

const watched = new Map<string, Watched>();
let runs: Run[] = [];
let waiting = false;

function redraw(): void {
  if (!waiting) {
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      draw();
    });
  }
}

function points(run: Watched, of: (line: Line) => number | null | undefined): [number, number][] {
  return run.lines.flatMap((line): [number, number][] => {
    const value = of(line);
    return typeof value === "number" ? [[line.step, value]] : [];
  });
}

function measure(line: Line): number | null | undefined {
  const validation = line.validation_lifted ?? line.validation;
  return validation
    ? (validation["relative_loss"] ?? validation["mse"] ?? validation["accuracy"])
    : line.validation_success;
}

function draw(): void {
  const all = [...watched.values()];
  const curves = (of: (line: Line) => number | null | undefined): Series[] =>
    all.map((run) => ({ name: run.name, colour: run.colour, points: points(run, of) }));
  const logarithmic = byId<HTMLInputElement>("runs-log").checked;
  const loss = (line: Line) => (line.kind === "epoch" ? undefined : line.loss);
  drawChart(byId<HTMLCanvasElement>("runs-loss"), curves(loss), { logarithmic, xLabel: "step" });
  drawChart(byId<HTMLCanvasElement>("runs-validation"), curves(measure), { logarithmic, xLabel: "step" });
  const iterations = (line: Line) => (line.kind === "step" ? line.iterations : line.training_success);
  drawChart(byId<HTMLCanvasElement>("runs-iterations"), curves(iterations), { xLabel: "step" });
  const speed = (line: Line) => line.samples_per_second ?? line.steps_per_second;
  drawChart(byId<HTMLCanvasElement>("runs-speed"), curves(speed), { xLabel: "step" });
  for (const canvas of document.querySelectorAll<HTMLCanvasElement>("#runs canvas")) {
    canvas.setAttribute("aria-label", `${canvas.dataset["what"]} of ${all.map((run) => run.name).join(", ") || "no run"}`);
  }
  table(all);
}

function table(all: Watched[]): void {
  const columns = ["curve", "run", "steps", "steps/s", "loss", "validation", "iterations", "best", "state"];
  const body = all.map((run) => {
    const last = run.latest();
    const step = run.latest("step") ?? run.latest("play");
    const judged = run.lines.filter((line) => measure(line) !== undefined && measure(line) !== null);
    const best = judged.filter((line) => line.is_best).at(-1);
    const finished = run.details?.finished ?? false;
    const swatch = make("span", { class: "swatch" });
    swatch.style.setProperty("background", run.colour);
    const cells: (Node | string)[] = [
      swatch,
      run.name,
      (last?.step ?? 0).toLocaleString("en"),
      number(run.speed(), 1),
      number(step?.loss, 5),
      number(judged.at(-1) && measure(judged.at(-1)!), 5) + (judged.at(-1)?.finished ? " (by finishing)" : ""),
      number(step?.iterations ?? step?.training_success, 2),
      best ? `${number(measure(best), 5)} at ${best.step.toLocaleString("en")}` : "–",
      finished ? "finished" : run.caughtUp ? "watching" : "reading",
    ];
    return make("tr", { "data-run": run.name }, ...cells.map((cell) => make("td", {}, cell)));
  });
  const head = make("tr", {}, ...columns.map((column) => make("th", { scope: "col" }, column)));
  const box = byId("runs-table");
  box.replaceChildren(make("thead", {}, head), make("tbody", {}, ...body));
  box.hidden = all.length === 0;
  byId("runs-hint").hidden = all.length > 0;
  const shown = all.at(-1)?.details;
  byId("runs-details").hidden = !shown;
  if (shown) {
    byId("runs-config-name").textContent = shown.name;
    byId("runs-config").textContent = shown.config ?? "";
    results(shown.result);
  }
}

/** The numbers of a result, flat: `validation.mse` and the like. */
function results(result: unknown): void {
  const rows: [string, string][] = [];
  const walk = (value: unknown, path: string) => {
    if (value !== null && typeof value === "object") {
      for (const [key, inner] of Object.entries(value)) {
        walk(inner, path ? `${path}.${key}` : key);
      }
    } else if (rows.length < 60 && (typeof value === "number" || typeof value === "string" || typeof value === "boolean")) {
      rows.push([path, typeof value === "number" ? number(value, 6) : String(value)]);
    }
  };
  walk(result, "");
  const lines = rows.map(([name, value]) => make("tr", {}, make("th", { scope: "row" }, name), make("td", {}, value)));
  byId("runs-result").replaceChildren(make("tbody", {}, ...lines));
}

function watch(name: string, on: boolean): void {
  if (!on) {
    watched.get(name)?.close();
    watched.delete(name);
  } else if (!watched.has(name)) {
    const used = new Set([...watched.values()].map((run) => run.colour));
    const colour = CURVES.find((one) => !used.has(one)) ?? CURVES[watched.size % CURVES.length]!;
    watched.set(name, new Watched(name, colour, redraw));
  }
  redraw();
}

function list(): void {
  const filter = byId<HTMLInputElement>("runs-filter").value.trim().toLowerCase();
  const matches = runs.filter((run) => `${run.name} ${run.task} ${run.model}`.toLowerCase().includes(filter));
  byId("runs-list").replaceChildren(
    ...matches.map((run, at) => {
      const box = make("input", { type: "checkbox", id: `run-${at}`, "data-name": run.name }) as HTMLInputElement;
      box.checked = watched.has(run.name);
      box.addEventListener("change", () => {
        if (box.checked && watched.size >= MOST) {
          box.checked = false;
          say(`At most ${MOST} runs are watched at a time: leave one out first.`, true);
          return;
        }
        watch(run.name, box.checked);
      });
      const what = [run.task, run.model, run.seed === null ? null : `seed ${run.seed}`].filter(Boolean).join(", ");
      const label = make("label", { for: `run-${at}` }, make("strong", {}, run.name), make("small", {}, what));
      return make("li", {}, box, label);
    }),
  );
  byId("runs-none").hidden = runs.length > 0;
}

async function refresh(): Promise<void> {
  try {
    runs = await get<Run[]>("/api/runs");
    list();
  } catch (error) {
    sayError(error);
  }
}

export function startRuns(): { begin(): void } {
  byId("runs-refresh").addEventListener("click", () => void refresh().then(() => say(`${runs.length} runs.`)));
  byId("runs-filter").addEventListener("input", list);
  byId("runs-log").addEventListener("change", redraw);
  for (const canvas of document.querySelectorAll<HTMLCanvasElement>("#runs canvas")) {
    keepDrawn(canvas, redraw);
  }
  return { begin: () => void refresh() };
}
