export function theme(name) {
    return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}
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
];
export const SHADES = 48;
function shade(part) {
    const at = Math.min(Math.max(part, 0), 1) * (STOPS.length - 1);
    const low = Math.min(Math.floor(at), STOPS.length - 2);
    const mix = (channel) => {
        const [a, b] = [STOPS[low][channel], STOPS[low + 1][channel]];
        return Math.round(a + (b - a) * (at - low));
    };
    return `rgb(${mix(0)} ${mix(1)} ${mix(2)})`;
}
const scale = Array.from({ length: SHADES }, (_, at) => shade(at / (SHADES - 1)));
export function shadeOf(byte) {
    return Math.min(SHADES - 1, Math.floor((byte * SHADES) / 256));
}
export function colourOf(shadeIndex) {
    return scale[shadeIndex] ?? scale[0];
}
export const CURVES = ["#3b82f6", "#e8590c", "#12a150", "#b14bd6", "#d6336c", "#0c8599", "#a8760a", "#6c6f7d"];
