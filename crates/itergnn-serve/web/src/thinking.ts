// Watching one or two models think: traces, a shared slider, curves, and the path at the end.

import { bytesOf, post, type Model, type Scene, type Solution, type Trace } from "./api.js";
import { drawChart } from "./chart.js";
import { CURVES } from "./colours.js";
import { keepDrawn, make, number, say, sayError } from "./dom.js";

/** Something that shows states and paths: a graph or a map. */
export interface Stage {
  setStates(states: Uint8Array | null): void;
  setMarks(marks: { from: number; to: number; found: number[] | null; exact: number[] | null }): void;
}

export type Colouring = "norm" | "change" | "channel";

export interface Question {
  scene: Scene;
  from: number;
  to: number;
  nodes: number;
}

const EDGES_OF_A_BOUND = 2;

/** One model beside its picture. */
export class Pane {
  readonly element: HTMLElement;
  readonly canvas: HTMLCanvasElement;
  private readonly curve: HTMLCanvasElement;
  private readonly title = make("h2");
  private readonly about = make("p", { class: "about" });
  private readonly numbers = make("dl", { class: "numbers" });
  private readonly sentence = make("p", { class: "sentence" });
  private trace: Trace | null = null;
  private solution: Solution | null = null;
  private bytes: Uint8Array | null = null;
  private nodes = 0;
  private model: Model | null = null;
  /** The step that is shown. */
  private shown: number | undefined;
  private chartAt: (px: number) => number = () => NaN;
  stage: Stage | null = null;

  constructor(label: string, kind: string, onSeek: (step: number) => void) {
    this.canvas = make("canvas", { tabindex: "0", role: "application", "aria-label": label, class: `picture ${kind}` }) as HTMLCanvasElement;
    this.curve = make("canvas", { class: "curve", role: "img" }) as HTMLCanvasElement;
    const legend = make(
      "p",
      { class: "legend" },
      make("span", { class: "key curve0" }, "confidence to stop"),
      make("span", { class: "key curve1" }, "mass left"),
      make("span", { class: "key curve2" }, "nodes that changed"),
    );
    this.element = make(
      "section",
      { class: "pane", "aria-label": label },
      make("header", {}, this.title, this.about),
      this.canvas,
      make("div", { class: "told" }, this.sentence, this.numbers, this.curve, legend),
    );
    this.curve.addEventListener("pointerdown", (event) => {
      const step = Math.round(this.chartAt(event.offsetX));
      if (Number.isFinite(step)) {
        onSeek(step);
      }
    });
    keepDrawn(this.curve, () => this.drawCurve(this.shown));
  }

  describe(model: Model | null): void {
    this.model = model;
    if (!model) {
      this.title.textContent = "No model for this";
      this.about.replaceChildren();
      return;
    }
    const badge = make("span", { class: `badge ${model.family}` }, model.family === "network" ? "learned network" : model.family);
    this.title.replaceChildren(model.name, " ", badge);
    this.about.replaceChildren(
      make("strong", {}, model.network || "unnamed"),
      `: ${model.architecture}; ${model.parameters.toLocaleString("en")} numbers. `,
      make("em", {}, "Built in: "),
      `${model.built_in}.`,
    );
  }

  clear(): void {
    this.trace = null;
    this.solution = null;
    this.bytes = null;
    this.stage?.setStates(null);
    this.numbers.replaceChildren();
    this.sentence.textContent = "";
    this.shown = undefined;
    this.drawCurve(undefined);
  }

  /** Asks the model; the iterations come first, the path follows. */
  async ask(question: Question, colouring: Colouring, channel: number, signal: AbortSignal): Promise<void> {
    if (!this.model) {
      return;
    }
    this.sentence.textContent = "thinking ..";
    this.numbers.replaceChildren();
    this.solution = null;
    const body = { model: this.model.name, ...question.scene, from: question.from, to: question.to, channel };
    this.nodes = question.nodes;
    try {
      this.trace = await post<Trace>("/api/trace", body, signal);
    } catch (error) {
      this.sentence.textContent = "";
      throw error;
    }
    this.colour(colouring);
  }

  async solve(question: Question, signal: AbortSignal): Promise<void> {
    if (!this.model) {
      return;
    }
    const body = { model: this.model.name, ...question.scene, from: question.from, to: question.to };
    this.solution = await post<Solution>("/api/solve", body, signal);
    this.stage?.setMarks({
      from: question.from,
      to: question.to,
      found: this.solution.path,
      exact: this.solution.exact?.path ?? null,
    });
  }

  /** What came out, in one sentence for the line that is read out. */
  summary(): string {
    if (!this.model || !this.trace || !this.solution) {
      return "";
    }
    const { optimal, length, exact, why } = this.solution;
    const found = optimal ? "found a shortest path" : (why ?? "found a path longer than the shortest");
    const lengths = length === null ? "" : ` of length ${number(length)}${exact ? `, exact ${number(exact.length)}` : ""}`;
    const end = this.trace.capped ? "was cut off" : "stopped";
    return `${this.model.name} ${end} after ${this.trace.iterations} iterations: ${found}${lengths}.`;
  }

  colour(colouring: Colouring): void {
    this.bytes = this.trace ? bytesOf(this.trace.views[colouring]) : null;
  }

  channels(): number {
    return this.trace?.channels ?? 1;
  }

  steps(): number {
    return this.trace?.steps.at(-1)?.step ?? 0;
  }

  range(colouring: Colouring): [number, number] | null {
    const view = this.trace?.views[colouring];
    return view ? [view.low, view.high] : null;
  }

  /** Shows the state after a step; later steps than the last show the last. */
  showStep(step: number): void {
    if (!this.trace) {
      return;
    }
    const kept = this.trace.views.steps;
    let at = kept.length - 1;
    while (at > 0 && kept[at]! > step) {
      at--;
    }
    const states = step > 0 && this.bytes && kept.length > 0 ? this.bytes.subarray(at * this.nodes, (at + 1) * this.nodes) : null;
    this.stage?.setStates(states && states.length === this.nodes ? states : null);
    this.shown = step;
    this.drawCurve(step);
    this.tell(step);
  }

  private tell(step: number): void {
    const trace = this.trace!;
    const at = trace.steps.filter((one) => one.step <= step).at(-1);
    const over = step >= trace.iterations;
    const left = at?.remaining;
    const part = at ? `${number(100 * at.changed, 1)}% of the nodes changed` : "nothing has happened yet";
    const sure = at && at.confidence !== null ? `, confidence ${number(at.confidence)}, mass left ${number(left)}` : "";
    const end = over ? (trace.capped ? " — cut off by the server's limit." : " — it has stopped.") : ".";
    this.sentence.textContent = `After ${Math.min(step, trace.iterations)} of ${trace.iterations} iterations: ${part}${sure}${end}`;
    this.fillNumbers();
  }

  private fillNumbers(): void {
    const trace = this.trace!;
    const solution = this.solution;
    const exact = solution?.exact ?? null;
    const bound = exact ? exact.hops / EDGES_OF_A_BOUND : null;
    const rows: [string, string, string?][] = [
      ["iterations", `${trace.iterations}${trace.capped ? " (cut off)" : ""}`],
      ["distance / 2", bound === null ? "–" : number(bound, 1)],
      ["predicted length", number(trace.prediction)],
      ["length walked", solution ? number(solution.length) : "–"],
      ["exact length", exact ? number(exact.length) : "–"],
    ];
    if (solution) {
      const verdict = solution.optimal ? "a shortest path" : (solution.why ?? "longer than the shortest");
      rows.push(["the walk found", verdict, solution.optimal ? "good" : "bad"]);
    }
    this.numbers.replaceChildren(
      ...rows.map(([name, value, tone]) =>
        make("div", {}, make("dt", {}, name), make("dd", tone ? { class: tone } : {}, value)),
      ),
    );
  }

  private drawCurve(cursor: number | undefined): void {
    const steps = this.trace?.steps ?? [];
    const confident = steps.filter((step) => step.confidence !== null);
    const series = [
      { name: "confidence", colour: CURVES[0]!, points: confident.map((at): [number, number] => [at.step, at.confidence!]) },
      { name: "mass left", colour: CURVES[1]!, points: confident.map((at): [number, number] => [at.step, at.remaining!]) },
      { name: "changed", colour: CURVES[2]!, points: steps.map((at): [number, number] => [at.step, at.changed]), dashed: true },
    ];
    const stop = this.trace && !this.trace.capped ? { x: this.trace.iterations, text: "stops" } : undefined;
    this.chartAt = drawChart(this.curve, series, { range: [0, 1], cursor, mark: stop, xLabel: "iteration" });
    const words = this.trace
      ? `Confidence, mass left and changed nodes over ${this.trace.iterations} iterations`
      : "No iterations yet";
    this.curve.setAttribute("aria-label", words);
  }
}

/** The slider that all panes share, and the asking. */
export class Thinking {
  private asking: AbortController | null = null;
  private timer = 0;
  private step = 0;
  private asked = 0;

  constructor(
    private readonly panes: () => Pane[],
    private readonly controls: {
      slider: HTMLInputElement;
      label: HTMLElement;
      play: HTMLButtonElement;
      back: HTMLButtonElement;
      forward: HTMLButtonElement;
      speed: HTMLSelectElement;
      colouring: HTMLSelectElement;
      channel: HTMLInputElement;
      scaleLow: HTMLElement;
      scaleHigh: HTMLElement;
    },
    private readonly question: () => Question | null,
  ) {
    const { slider, play, back, forward, colouring, channel } = controls;
    slider.addEventListener("input", () => {
      this.pause();
      this.show(Number(slider.value));
    });
    play.addEventListener("click", () => (this.timer ? this.pause() : this.play()));
    back.addEventListener("click", () => this.stepBy(-1));
    forward.addEventListener("click", () => this.stepBy(1));
    colouring.addEventListener("change", () => this.recolour());
    channel.addEventListener("change", () => void this.ask(false));
    controls.speed.addEventListener("change", () => {
      if (this.timer) {
        this.pause();
        this.play();
      }
    });
  }

  colouring(): Colouring {
    return this.controls.colouring.value as Colouring;
  }

  private recolour(): void {
    this.controls.channel.disabled = this.colouring() !== "channel";
    for (const pane of this.panes()) {
      pane.colour(this.colouring());
    }
    this.show(this.step);
  }

  /** Forgets what was thought about another scene. */
  reset(): void {
    this.asking?.abort();
    this.pause();
    for (const pane of this.panes()) {
      pane.clear();
    }
    this.controls.slider.max = "0";
    this.show(0);
  }

  /** Asks every model about the scene, shows the iterations, then the paths. */
  async ask(thenPlay = true): Promise<void> {
    const question = this.question();
    if (!question) {
      return;
    }
    this.asking?.abort();
    const asking = new AbortController();
    this.asking = asking;
    // Number of the question, and below of the last one that was answered: a test waits for the answer to its own.
    const number = String(++this.asked);
    this.controls.label.dataset["asked"] = number;
    this.pause();
    const at = this.step;
    const panes = this.panes();
    try {
      const channel = Math.max(0, Number(this.controls.channel.value) || 0);
      await Promise.all(panes.map((pane) => pane.ask(question, this.colouring(), channel, asking.signal)));
      const steps = Math.max(0, ...panes.map((pane) => pane.steps()));
      this.controls.slider.max = String(steps);
      this.controls.channel.max = String(Math.max(0, ...panes.map((pane) => pane.channels() - 1)));
      this.show(thenPlay ? 0 : Math.min(at, steps));
      if (thenPlay && !matchMedia("(prefers-reduced-motion: reduce)").matches) {
        this.play();
      } else if (thenPlay) {
        this.show(steps);
      }
      await Promise.all(panes.map((pane) => pane.solve(question, asking.signal)));
      this.show(this.step);
      this.controls.label.dataset["answered"] = number;
      // Whoever has gone on to another tab meanwhile hears of that one.
      if (thenPlay && this.controls.label.closest("[hidden]") === null) {
        say(panes.map((pane) => pane.summary()).join(" "));
      }
    } catch (error) {
      sayError(error);
    }
  }

  private stepBy(by: number): void {
    this.pause();
    this.show(this.step + by);
  }

  seek(step: number): void {
    this.pause();
    this.show(step);
  }

  private show(step: number): void {
    const most = Number(this.controls.slider.max);
    this.step = Math.min(Math.max(0, step), most);
    this.controls.slider.value = String(this.step);
    this.controls.slider.setAttribute("aria-valuetext", `iteration ${this.step} of ${most}`);
    this.controls.label.textContent = `${this.step} / ${most}`;
    for (const pane of this.panes()) {
      pane.showStep(this.step);
    }
    const range = this.panes()[0]?.range(this.colouring());
    this.controls.scaleLow.textContent = range ? number(range[0]) : "low";
    this.controls.scaleHigh.textContent = range ? number(range[1]) : "high";
  }

  play(): void {
    if (this.step >= Number(this.controls.slider.max)) {
      this.show(0);
    }
    const perSecond = Number(this.controls.speed.value) || 10;
    this.controls.play.textContent = "Pause";
    this.controls.play.setAttribute("aria-pressed", "true");
    this.timer = window.setInterval(() => {
      const most = Number(this.controls.slider.max);
      // Long loops take strides, so that the end comes within half a minute.
      const stride = Math.max(1, Math.ceil(most / (30 * perSecond)));
      this.show(this.step + stride);
      if (this.step >= most) {
        this.pause();
      }
    }, 1000 / perSecond);
  }

  pause(): void {
    window.clearInterval(this.timer);
    this.timer = 0;
    this.controls.play.textContent = "Play";
    this.controls.play.setAttribute("aria-pressed", "false");
  }
}
