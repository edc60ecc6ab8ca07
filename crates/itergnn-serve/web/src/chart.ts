// Line charts on a canvas.

import { prepare } from "./dom.js";
import { theme } from "./colours.js";

export interface Series {
  name: string;
  colour: string;
  points: [x: number, y: number][];
  dashed?: boolean;
}

export interface ChartOptions {
  /** Whether y grows by factors of ten. */
  logarithmic?: boolean;
  /** The y axis goes at least from here to there. */
  range?: [number, number];
  /** A vertical line at this x. */
  cursor?: number | undefined;
  /** A vertical line with words. */
  mark?: { x: number; text: string } | undefined;
  xLabel?: string;
}

const LEFT = 48;
const RIGHT = 12;
const TOP = 10;
const BOTTOM = 26;

/** Draws the series and says where an x on the canvas lies in the data. */
export function drawChart(canvas: HTMLCanvasElement, series: Series[], options: ChartOptions = {}): (px: number) => number {
  const { context, width, height } = prepare(canvas);
  context.clearRect(0, 0, width, height);
  const log = options.logarithmic ?? false;
  const usable = (y: number) => Number.isFinite(y) && (!log || y > 0);
  const toY = (y: number) => (log ? Math.log10(y) : y);
  let [x0, x1, y0, y1] = [Infinity, -Infinity, Infinity, -Infinity];
  for (const one of series) {
    for (const [x, y] of one.points) {
      if (usable(y)) {
        x0 = Math.min(x0, x);
        x1 = Math.max(x1, x);
        y0 = Math.min(y0, toY(y));
        y1 = Math.max(y1, toY(y));
      }
    }
  }
  if (options.range) {
    y0 = Math.min(y0, options.range[0]);
    y1 = Math.max(y1, options.range[1]);
  }
  if (x0 > x1 || y0 > y1) {
    context.fillStyle = theme("faint");
    context.font = "12px system-ui, sans-serif";
    context.fillText("nothing to show yet", LEFT, height / 2);
    return () => NaN;
  }
  if (x0 === x1) {
    x1 = x0 + 1;
  }
  if (y1 - y0 < 1e-12) {
    y0 -= log ? 0.5 : Math.abs(y0) * 0.1 || 0.5;
    y1 += log ? 0.5 : Math.abs(y1) * 0.1 || 0.5;
  }
  const inner = { width: width - LEFT - RIGHT, height: height - TOP - BOTTOM };
  const px = (x: number) => LEFT + ((x - x0) / (x1 - x0)) * inner.width;
  const py = (y: number) => TOP + (1 - (toY(y) - y0) / (y1 - y0)) * inner.height;
  axes(context, { x0, x1, y0, y1, log, inner, width, height, xLabel: options.xLabel ?? "" });
  context.save();
  context.beginPath();
  context.rect(LEFT, TOP - 2, inner.width, inner.height + 4);
  context.clip();
  for (const one of series) {
    line(context, thinned(one.points.filter(([, y]) => usable(y)), inner.width), px, py, one);
  }
  context.restore();
  if (options.mark && options.mark.x >= x0 && options.mark.x <= x1) {
    vertical(context, px(options.mark.x), theme("good"), inner.height, [4, 3]);
    context.fillStyle = theme("good");
    const right = px(options.mark.x) > width - 90;
    context.textAlign = right ? "right" : "left";
    context.fillText(options.mark.text, px(options.mark.x) + (right ? -5 : 5), TOP + 10);
    context.textAlign = "left";
  }
  if (options.cursor !== undefined) {
    vertical(context, px(options.cursor), theme("text"), inner.height, []);
  }
  return (at) => x0 + ((at - LEFT) / inner.width) * (x1 - x0);
}

/** At most about two points per pixel: the least and the largest of each stretch, so that no peak is lost. */
function thinned(points: [number, number][], width: number): [number, number][] {
  const stretch = Math.floor(points.length / Math.max(width, 1));
  if (stretch < 4) {
    return points;
  }
  const kept: [number, number][] = [];
  for (let at = 0; at < points.length; at += stretch) {
    const part = points.slice(at, at + stretch);
    let [low, high] = [part[0]!, part[0]!];
    for (const point of part) {
      low = point[1] < low[1] ? point : low;
      high = point[1] > high[1] ? point : high;
    }
    kept.push(...(low[0] <= high[0] ? [low, high] : [high, low]));
  }
  return kept;
}

function line(
  context: CanvasRenderingContext2D,
  points: [number, number][],
  px: (x: number) => number,
  py: (y: number) => number,
  series: Series,
): void {
  context.strokeStyle = series.colour;
  context.lineWidth = 1.8;
  context.setLineDash(series.dashed ? [5, 4] : []);
  context.beginPath();
  points.forEach(([x, y], at) => (at === 0 ? context.moveTo(px(x), py(y)) : context.lineTo(px(x), py(y))));
  context.stroke();
  context.setLineDash([]);
  if (points.length === 1) {
    context.fillStyle = series.colour;
    context.beginPath();
    context.arc(px(points[0]![0]), py(points[0]![1]), 3, 0, 2 * Math.PI);
    context.fill();
  }
}

function vertical(context: CanvasRenderingContext2D, x: number, colour: string, height: number, dash: number[]): void {
  context.strokeStyle = colour;
  context.lineWidth = 1.2;
  context.setLineDash(dash);
  context.beginPath();
  context.moveTo(x, TOP);
  context.lineTo(x, TOP + height);
  context.stroke();
  context.setLineDash([]);
}

interface Axes {
  x0: number;
  x1: number;
  y0: number;
  y1: number;
  log: boolean;
  inner: { width: number; height: number };
  width: number;
  height: number;
  xLabel: string;
}

function axes(context: CanvasRenderingContext2D, at: Axes): void {
  context.font = "11px system-ui, sans-serif";
  context.lineWidth = 1;
  context.strokeStyle = theme("line");
  context.fillStyle = theme("faint");
  context.textBaseline = "middle";
  context.textAlign = "right";
  const rows = at.log ? decades(at.y0, at.y1) : ticks(at.y0, at.y1, 4);
  for (const y of rows) {
    const py = TOP + (1 - (y - at.y0) / (at.y1 - at.y0)) * at.inner.height;
    context.beginPath();
    context.moveTo(LEFT, py);
    context.lineTo(LEFT + at.inner.width, py);
    context.stroke();
    context.fillText(at.log ? power(y) : short(y), LEFT - 6, py);
  }
  context.textBaseline = "alphabetic";
  context.textAlign = "center";
  for (const x of ticks(at.x0, at.x1, 5)) {
    const px = LEFT + ((x - at.x0) / (at.x1 - at.x0)) * at.inner.width;
    context.fillText(short(x), px, at.height - 10);
  }
  context.textAlign = "right";
  context.fillText(at.xLabel, at.width - RIGHT, TOP + at.inner.height - 5);
  context.textAlign = "left";
}

function ticks(low: number, high: number, count: number): number[] {
  const rough = (high - low) / count;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * unit).find((size) => size >= rough) ?? unit;
  const found: number[] = [];
  for (let tick = Math.ceil(low / step) * step; tick <= high + step * 1e-9; tick += step) {
    found.push(Math.abs(tick) < step * 1e-9 ? 0 : tick);
  }
  return found;
}

function decades(low: number, high: number): number[] {
  const every = Math.max(1, Math.ceil((high - low) / 5));
  const found: number[] = [];
  for (let power = Math.ceil(low); power <= high; power += every) {
    found.push(power);
  }
  return found.length >= 2 ? found : [low, high];
}

function power(exponent: number): string {
  return Number.isInteger(exponent) ? `1e${exponent}` : (10 ** exponent).toPrecision(2);
}

function short(value: number): string {
  const size = Math.abs(value);
  if (size >= 1e6) {
    return `${Number((value / 1e6).toPrecision(3))}M`;
  }
  if (size >= 1e4) {
    return `${Number((value / 1e3).toPrecision(3))}k`;
  }
  return size > 0 && size < 1e-3 ? value.toExponential(0) : String(Number(value.toPrecision(4)));
}
