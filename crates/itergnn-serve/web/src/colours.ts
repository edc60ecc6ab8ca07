// Colours from the style sheet, and the scale of states.

/** A colour of the current theme. */
export function theme(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

// Stops of "viridis" (CC0), a scale that grows evenly in lightness and survives colour blindness.
const STOPS = [
  [68, 1, 84],
  [71, 44, 122],
  [59, 81, 139],
  [44, 113, 142],
  [33, 144, 141],
  [39, 173, 129],
  [92, 200, 99],
  [170, 220, 50],
  [253, 231, 37],
] as const;

/** Shades of the scale: few enough to draw each in one go. */
export const SHADES = 48;

function shade(part: number): string {
  const at = Math.min(Math.max(part, 0), 1) * (STOPS.length - 1);
  const low = Math.min(Math.floor(at), STOPS.length - 2);
  const mix = (channel: 0 | 1 | 2) => {
    const [a, b] = [STOPS[low]![channel], STOPS[low + 1]![channel]];
    return Math.round(a + (b - a) * (at - low));
  };
  return `rgb(${mix(0)} ${mix(1)} ${mix(2)})`;
}

const scale = Array.from({ length: SHADES }, (_, at) => shade(at / (SHADES - 1)));

/** The shade of a byte. */
export function shadeOf(byte: number): number {
  return Math.min(SHADES - 1, Math.floor((byte * SHADES) / 256));
}

export function colourOf(shadeIndex: number): string {
  return scale[shadeIndex] ?? scale[0]!;
}

/** Colours of curves, by turns; readable on light and dark. */
export const CURVES = ["#3b82f6", "#e8590c", "#12a150", "#b14bd6", "#d6336c", "#0c8599", "#a8760a", "#6c6f7d"];
