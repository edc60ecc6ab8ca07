// The page for those who see it otherwise or not at all, or have no mouse.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { check, until } from "./harness.mjs";
import { answered, text } from "./steps.mjs";

const TABS = ["graphs", "maps", "pacman", "runs", "report"];
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Every page of the tabs passes axe: names, roles, contrast, order, labels. */
export async function passAxe(page, theme) {
  await page.evaluate(axe);
  for (const tab of TABS) {
    await page.click(`#tab-${tab}`);
    if (tab === "runs") await page.locator('[data-name="lobster/seed-1"]').check();
    if (tab === "runs") await until(() => page.locator("#runs-details").isVisible(), Boolean, "the details of a run");
    await page.waitForTimeout(200);
    const found = await page.evaluate(() => window.axe.run(document, { iframes: false, resultTypes: ["violations"] }));
    const lines = found.violations.map(
      (rule) => `${rule.id}: ${rule.help} at ${rule.nodes.slice(0, 3).map((node) => `${node.target} (${node.any[0]?.message ?? ""})`).join(", ")}`,
    );
    check(lines.length === 0, `${theme} ${tab}:\n      ${lines.join("\n      ")}`);
    check(found.passes.length > 10, `axe looked at ${tab}`);
  }
  await page.locator("#tab-runs").click();
  await page.locator('[data-name="lobster/seed-1"]').uncheck();
}

/** What a screen reader is told: everything that takes the focus has a role and a name. */
export async function haveNames(page) {
  const session = await page.context().newCDPSession(page);
  let controls = 0;
  for (const tab of TABS) {
    await page.click(`#tab-${tab}`);
    const { nodes } = await session.send("Accessibility.getFullAXTree");
    const has = (node, name) => node.properties?.some((property) => property.name === name && property.value.value === true);
    const focusable = nodes.filter((node) => !node.ignored && has(node, "focusable") && node.role.value !== "RootWebArea");
    const nameless = focusable.filter((node) => !node.name?.value || ["generic", "none"].includes(node.role.value));
    check(nameless.length === 0, `${tab}: without a name or role: ${JSON.stringify(nameless.map((node) => [node.role, node.name]))}`);
    controls += focusable.length;
    const live = nodes.filter((node) => node.role?.value === "status");
    check(live.length >= 1, `${tab}: there is a line that is read out`);
  }
  check(controls > 60, `the tree has the controls of the page: ${controls}`);
  await session.detach();
}

/** Presses Tab (or Shift and Tab) until an element has the focus, and sees that the focus is visible there. */
async function tabTo(page, selector, key = "Tab") {
  for (let count = 0; count < 80; count++) {
    await page.keyboard.press(key);
    if (await page.evaluate((wanted) => document.activeElement?.matches(wanted) ?? false, selector)) {
      const outline = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
      check(outline !== "none", `the focus on ${selector} can be seen`);
      return;
    }
  }
  throw new Error(`the Tab key does not reach ${selector}`);
}

/** From the page of one tab to that of the next. */
async function nextTab(page, tab) {
  await tabTo(page, '[role="tab"][aria-selected="true"]', "Shift+Tab");
  await page.keyboard.press("ArrowRight");
  check(await page.locator(`#${tab}`).isVisible(), `the right arrow opens ${tab}`);
}

/** Everything from a graph to the colours, without a mouse. */
export async function workByKeyboard(page) {
  await answered(page, "graph", undefined, 0);
  await tabTo(page, "#graph-generator");
  await page.keyboard.type("planar");
  check((await page.locator("#graph-generator").inputValue()) === "planar", "letters choose the kind of graph");
  await tabTo(page, "#graph-draw");
  await answered(page, "graph", () => page.keyboard.press("Enter"));
  check(/after \d+ iterations/.test(await text(page, "#status")), `the result is read out: ${await text(page, "#status")}`);
  await tabTo(page, "#graph-slider");
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowRight");
  check((await page.locator("#graph-slider").getAttribute("aria-valuetext")).startsWith("iteration 1 of"), "one step");
  await page.keyboard.press("End");
  check(/stopped|cut off/.test(await text(page, "#graph-panes .sentence")), "the end says how it ended");
  await tabTo(page, "#graph-panes canvas.picture");
  await page.keyboard.press("ArrowLeft");
  check((await text(page, "#status")) === "node 0", "the arrows go to a node");
  await page.keyboard.press("ArrowRight");
  await answered(page, "graph", () => page.keyboard.press("b"));
  await tabTo(page, "#graph-play", "Shift+Tab");
  const pressed = () => page.locator("#graph-play").getAttribute("aria-pressed");
  // An answer plays by itself: wait for its end, so that Space begins.
  await until(pressed, (now) => now === "false", "the end of the iterations");
  await page.keyboard.press("Space");
  check((await pressed()) === "true", "Space plays");
  await page.keyboard.press("Space");
  check((await pressed()) === "false", "Space pauses");

  await answered(page, "map", () => nextTab(page, "maps"), 0);
  await tabTo(page, "#map-panes canvas.picture");
  const blocked = async () => Number((await text(page, "#map-count")).match(/(\d+) of them blocked/)[1]);
  const before = await blocked();
  for (let count = 0; count < 12 && (await blocked()) === before; count++) {
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("Space");
  }
  check((await blocked()) === before + 1, "Space paints a cell");

  await nextTab(page, "pacman");
  await until(() => text(page, "#pacman-score"), (score) => score.includes(", 0 moves"), "a game");
  await tabTo(page, "#pacman-board");
  await page.keyboard.press("ArrowLeft");
  await until(() => text(page, "#status"), (said) => /^left: column \d+, row \d+/.test(said), "the move to be read out");

  await nextTab(page, "runs");
  await until(() => page.locator("#runs-list li").count(), (count) => count > 0, "the runs");
  await tabTo(page, '#runs-list input[type="checkbox"]');
  await page.keyboard.press("Space");
  await until(() => page.locator("#runs-table tbody tr").count(), (count) => count === 1, "the curve of a run");

  await nextTab(page, "report");
  await tabTo(page, "#report-name");
  await tabTo(page, "#theme", "Shift+Tab");
  const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await paper();
  await page.keyboard.press("Enter");
  check((await paper()) !== light, "Enter switches the colours");
  await page.keyboard.press("Enter");
}
