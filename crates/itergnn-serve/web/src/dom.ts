// Small helpers around the document.

export function byId<T extends HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (!found) {
    throw new Error(`the page has no #${id}`);
  }
  return found as T;
}

/** The event after which every canvas must be drawn again, in other colours. */
export const REDRAW = "itergnn-redraw";

/** Draws a canvas again when its size or the colours change. */
export function keepDrawn(canvas: HTMLCanvasElement, draw: () => void): void {
  new ResizeObserver(draw).observe(canvas);
  window.addEventListener(REDRAW, draw);
}

/** An element with a class, attributes and content. */
export function make(
  tag: string,
  attributes: Record<string, string> = {},
  ...content: (Node | string)[]
): HTMLElement {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    element.setAttribute(name, value);
  }
  element.append(...content);
  return element;
}

/** Says something to everybody: at the foot of the page, and to screen readers. */
export function say(message: string, bad = false): void {
  const status = byId("status");
  status.textContent = message;
  status.classList.toggle("bad", bad);
}

export function sayError(error: unknown): void {
  if (error instanceof DOMException && error.name === "AbortError") {
    return;
  }
  say(error instanceof Error ? error.message : String(error), true);
}

export function fillSelect(select: HTMLSelectElement, options: [value: string, label: string][], keep = true): void {
  const before = select.value;
  select.replaceChildren(...options.map(([value, label]) => make("option", { value }, label)));
  if (keep && options.some(([value]) => value === before)) {
    select.value = before;
  }
}

export function number(value: number | null | undefined, digits = 3): string {
  if (value === null || value === undefined || !Number.isFinite(value)) {
    return "–";
  }
  if (value !== 0 && (Math.abs(value) >= 1e6 || Math.abs(value) < 10 ** -digits)) {
    return value.toExponential(2);
  }
  return Number(value.toFixed(digits)).toString();
}

/** A canvas as sharp as the screen, and its size in CSS pixels. */
export function prepare(canvas: HTMLCanvasElement): { context: CanvasRenderingContext2D; width: number; height: number } {
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
