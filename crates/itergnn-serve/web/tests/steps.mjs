// What several flows do and look at.

import { check, until } from "./harness.mjs";

export const text = (page, selector) => page.locator(selector).first().innerText();
export const iterations = (page, prefix) => page.locator(`#${prefix}-slider`).getAttribute("max").then(Number);
export const verdict = (page, prefix) => page.locator(`#${prefix}-panes .numbers`).first().innerText();

/** Numbers of the last question that was asked and of the last one that was answered. */
const questions = (page, prefix) =>
  page.locator(`#${prefix}-step`).evaluate(({ dataset }) => [Number(dataset.asked ?? 0), Number(dataset.answered ?? 0)]);

/** Does something and waits until the models have answered what it asks, and nothing else is being asked. */
export async function answered(page, prefix, act = async () => {}, before = undefined) {
  const known = before ?? (await questions(page, prefix))[0];
  await act();
  await until(() => questions(page, prefix), ([asked, done]) => asked > known && done === asked, `an answer of ${prefix}`);
  check((await iterations(page, prefix)) > 0, "there are iterations");
  return verdict(page, prefix);
}

/** Lets a model of a family that is exact for this kind of scene think, so that the path is known beforehand. */
export async function chooseExact(page, prefix, solves) {
  const names = await page.evaluate(async (kind) => {
    const models = await (await fetch("/api/models")).json();
    return models.filter((model) => model.solves.includes(kind) && model.family === "task-aligned").map((model) => model.name);
  }, solves);
  check(names.length > 0, `there is a task-aligned model for ${solves}`);
  const chosen = await page.locator(`#${prefix}-model-1`).inputValue();
  if (chosen !== names[0]) await answered(page, prefix, () => page.selectOption(`#${prefix}-model-1`, names[0]));
}

export async function seek(page, prefix, step) {
  await page.locator(`#${prefix}-slider`).evaluate((slider, value) => {
    slider.value = String(value);
    slider.dispatchEvent(new Event("input"));
  }, step);
}

/** How many different colours a canvas shows, or how many of its pixels show about the given one. */
const pixels = (page, selector, given) =>
  page.locator(selector).first().evaluate((canvas, given) => {
    const copy = document.createElement("canvas");
    [copy.width, copy.height] = [canvas.width, canvas.height];
    const context = copy.getContext("2d", { willReadFrequently: true });
    context.drawImage(canvas, 0, 0);
    const { data } = context.getImageData(0, 0, copy.width, copy.height);
    const wanted = given && (getComputedStyle(document.documentElement).getPropertyValue(given).trim() || given);
    const channels = wanted ? [1, 3, 5].map((at) => parseInt(wanted.slice(at, at + 2), 16)) : [];
    const found = new Set();
    let near = 0;
    for (let at = 0; at < data.length; at += 4) {
      if (data[at + 3] > 200) found.add((data[at] << 16) | (data[at + 1] << 8) | data[at + 2]);
      if (data[at + 3] > 60 && channels.every((value, channel) => Math.abs(data[at + channel] - value) <= 16)) near++;
    }
    return given ? near : found.size;
  }, given);

export const colours = (page, selector) => pixels(page, selector, null);

/** Waits until a canvas shows a colour, given as `#rrggbb` or by its name in the style sheet. */
export const shows = (page, selector, colour) =>
  until(() => pixels(page, selector, colour), (count) => count >= 10, `${colour} on ${selector}`);
