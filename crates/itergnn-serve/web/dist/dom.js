export function byId(id) {
    const found = document.getElementById(id);
    if (!found) {
        throw new Error(`the page has no #${id}`);
    }
    return found;
}
export const REDRAW = "itergnn-redraw";
export function keepDrawn(canvas, draw) {
    new ResizeObserver(draw).observe(canvas);
    window.addEventListener(REDRAW, draw);
}
export function make(tag, attributes = {}, ...content) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
        element.setAttribute(name, value);
    }
    element.append(...content);
    return element;
}
export function say(message, bad = false) {
    const status = byId("status");
    status.textContent = message;
    status.classList.toggle("bad", bad);
}
export function sayError(error) {
    if (error instanceof DOMException && error.name === "AbortError") {
        return;
    }
    say(error instanceof Error ? error.message : String(error), true);
}
export function fillSelect(select, options, keep = true) {
    const before = select.value;
    select.replaceChildren(...options.map(([value, label]) => make("option", { value }, label)));
    if (keep && options.some(([value]) => value === before)) {
        select.value = before;
    }
}
export function number(value, digits = 3) {
    if (value === null || value === undefined || !Number.isFinite(value)) {
        return "–";
    }
    if (value !== 0 && (Math.abs(value) >= 1e6 || Math.abs(value) < 10 ** -digits)) {
        return value.toExponential(2);
    }
    return Number(value.toFixed(digits)).toString();
}
export function prepare(canvas) {
    const ratio = window.devicePixelRatio || 1;
    const { clientWidth: width, clientHeight: height } = canvas;
    const [wide, high] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (canvas.width !== wide || canvas.height !== high) {
        canvas.width = wide;
        canvas.height = high;
    }
    const context = canvas.getContext("2d");
    if (!context) {
        throw new Error("this browser draws no canvas");
    }
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    return { context, width, height };
}
