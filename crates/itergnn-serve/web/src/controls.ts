// The controls that the pages of graphs and of maps share, made once for each.

import type { Model } from "./api.js";
import { byId, fillSelect } from "./dom.js";
import { Pane, Thinking, type Question, type Stage } from "./thinking.js";

export interface Desk {
  thinking: Thinking;
  panes: Pane[];
  /** Shows the models that can solve this kind of scene. */
  offer(models: Model[]): void;
}

/** Wires the controls of `prefix` and makes two panes, of which the second is there when a second model is chosen. */
export function makeDesk(
  prefix: string,
  solves: string,
  stageOf: (canvas: HTMLCanvasElement, pane: number) => Stage,
  question: () => Question | null,
): Desk {
  const element = <T extends HTMLElement>(name: string) => byId<T>(`${prefix}-${name}`);
  const selects = [element<HTMLSelectElement>("model-1"), element<HTMLSelectElement>("model-2")];
  let known: Model[] = [];
  const chosen = (at: number) => known.find((model) => model.name === selects[at]!.value) ?? null;
  const panes = [1, 2].map((at) => new Pane(`Model ${at}`, prefix, (step) => thinking.seek(step)));
  const active = () => panes.filter((_, at) => at === 0 || chosen(at) !== null);
  const thinking: Thinking = new Thinking(
    active,
    {
      slider: element("slider"),
      label: element("step"),
      play: element("play"),
      back: element("back"),
      forward: element("forward"),
      speed: element("speed"),
      colouring: element("colour"),
      channel: element("channel"),
      scaleLow: element("low"),
      scaleHigh: element("high"),
    },
    question,
  );
  const box = element("panes");
  panes.forEach((pane, at) => {
    pane.stage = stageOf(pane.canvas, at);
  });
  const arrange = () => {
    panes.forEach((pane, at) => pane.describe(chosen(at)));
    box.replaceChildren(...active().map((pane) => pane.element));
    box.classList.toggle("two", active().length === 2);
  };
  selects.forEach((select) =>
    select.addEventListener("change", () => {
      arrange();
      void thinking.ask();
    }),
  );
  element("ask").addEventListener("click", () => void thinking.ask());
  return {
    thinking,
    panes,
    offer(models) {
      known = models.filter((model) => model.solves.includes(solves));
      // The paper's kind of network first: the families that carry an algorithm are never chosen silently.
      known.sort((a, b) => Number(a.family !== "network") - Number(b.family !== "network") || a.name.localeCompare(b.name));
      const label = (model: Model) => `${model.name} (${model.network})`;
      const options = known.map((model): [string, string] => [model.name, label(model)]);
      fillSelect(selects[0]!, options);
      fillSelect(selects[1]!, [["", "none"], ...options]);
      arrange();
    },
  };
}
