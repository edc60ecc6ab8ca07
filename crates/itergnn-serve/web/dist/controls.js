import { byId, fillSelect } from "./dom.js";
import { Pane, Thinking } from "./thinking.js";
export function makeDesk(prefix, solves, stageOf, question) {
    const element = (name) => byId(`${prefix}-${name}`);
    const selects = [element("model-1"), element("model-2")];
    let known = [];
    const chosen = (at) => known.find((model) => model.name === selects[at].value) ?? null;
    const panes = [1, 2].map((at) => new Pane(`Model ${at}`, prefix, (step) => thinking.seek(step)));
    const active = () => panes.filter((_, at) => at === 0 || chosen(at) !== null);
    const thinking = new Thinking(active, {
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
    }, question);
    const box = element("panes");
    panes.forEach((pane, at) => {
        pane.stage = stageOf(pane.canvas, at);
    });
    const arrange = () => {
        panes.forEach((pane, at) => pane.describe(chosen(at)));
        box.replaceChildren(...active().map((pane) => pane.element));
        box.classList.toggle("two", active().length === 2);
    };
    selects.forEach((select) => select.addEventListener("change", () => {
        arrange();
        void thinking.ask();
    }));
    element("ask").addEventListener("click", () => void thinking.ask());
    return {
        thinking,
        panes,
        offer(models) {
            known = models.filter((model) => model.solves.includes(solves));
            known.sort((a, b) => Number(a.family !== "network") - Number(b.family !== "network") || a.name.localeCompare(b.name));
            const label = (model) => `${model.name} (${model.network})`;
            const options = known.map((model) => [model.name, label(model)]);
            fillSelect(selects[0], options);
            fillSelect(selects[1], [["", "none"], ...options]);
            arrange();
        },
    };
}
