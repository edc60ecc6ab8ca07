// The page in a real browser. `cargo xtask browser` runs this; ITERGNN_SHOTS=1 also renews the pictures in docs/page.

import { join } from "node:path";
import { haveNames, passAxe, workByKeyboard } from "./access.mjs";
import { paintMap, playPacman } from "./games.mjs";
import * as graphs from "./graphs.mjs";
import { Browser, check, folder, root, shooter, startServer } from "./harness.mjs";
import { makeRuns, readReport, watchRuns, watchTraining } from "./runs.mjs";

const shoot = shooter();
const runs = folder();
makeRuns(runs.path);
const models = process.env.ITERGNN_MODELS ?? join(root, "models");
const server = await startServer(["--models", models, "--runs", runs.path]);
const browser = await Browser.start();
let failed = 0;

async function flow(name, act) {
  const started = Date.now();
  try {
    await act();
    const complaints = browser.complaints.splice(0);
    check(complaints.length === 0, `the browser complained:\n      ${complaints.join("\n      ")}`);
    console.log(`ok   ${name} (${((Date.now() - started) / 1000).toFixed(1)} s)`);
  } catch (error) {
    failed++;
    console.log(`FAIL ${name}\n    ${error.message}`);
    const complaints = browser.complaints.splice(0);
    if (complaints.length > 0) console.log(`    ${complaints.join("\n    ")}`);
  }
}

// A refused file is an answer of 400, which the browser mentions in its console: the one line that is expected.
const refusal = [/status of 400/];
const page = await browser.open(server.url);
await flow("graphs are drawn, watched and coloured", () => graphs.watchGraphs(page, shoot));
await flow("iterations play and pause", () => graphs.playIterations(page));
await flow("two models side by side", () => graphs.compareModels(page, shoot));
await flow("ends chosen by a click", () => graphs.chooseEnds(page));
await flow("a graph drawn by hand", () => graphs.drawByHand(page));
await flow("a graph drawn by keyboard", () => graphs.drawByKeyboard(page));
await flow("ten thousand nodes", () => graphs.stayLarge(page, shoot));
await flow("obstacles painted on a map", () => paintMap(page, shoot));
await flow("Pacman watched and played", () => playPacman(page, shoot));
await flow("a run that grows while watched", () => watchRuns(page, runs.path));
await flow("networks that train while watched", () => watchTraining(page, shoot, runs.path));
await flow("the report", () => readReport(page, shoot));
await flow("names and roles", () => haveNames(page));
await flow("axe, light", () => passAxe(page, "light"));
await page.close();

await flow("everything by keyboard", async () => {
  const page = await browser.open(server.url);
  await workByKeyboard(page);
  await page.evaluate(() => localStorage.clear());
  await page.close();
});

await flow("files, good and bad", async () => {
  const page = await browser.open(server.url, { expect: refusal });
  await graphs.dropFiles(page);
  await page.close();
});
await flow("dark colours and no motion", async () => {
  const page = await browser.open(server.url, { colorScheme: "dark", reducedMotion: "reduce" });
  await page.waitForFunction(() => document.querySelector("#graph-panes .numbers")?.textContent.includes("the walk found"));
  const paper = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  check(/rgb\(15, 18, 24\)/.test(paper), `the page is dark: ${paper}`);
  await shoot(page, "dark");
  await passAxe(page, "dark");
  await page.click("#theme");
  const light = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  check(light !== paper, "the button switches to light");
  await page.evaluate(() => localStorage.clear());
  await page.close();
});
await flow("a narrow window", async () => {
  const page = await browser.open(server.url);
  await page.setViewportSize({ width: 420, height: 900 });
  await page.waitForFunction(() => document.querySelector("#graph-panes .numbers")?.textContent.includes("the walk found"));
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  check(wide <= 420, `nothing sticks out: ${wide} pixels`);
  await page.close();
});
await flow("a token opens the page once and is not in its address", async () => {
  const token = "0123456789abcdef0123";
  const guarded = await startServer(["--token", token]);
  check(guarded.url.includes(token), "the address that is printed carries the token");
  const page = await browser.open(guarded.url);
  await page.waitForFunction(() => document.querySelectorAll("#graph-model-1 option").length > 0);
  check(!page.url().includes(token), `the address bar does not keep it: ${page.url()}`);
  const bare = await fetch(new URL("/api/models", guarded.url));
  check(bare.status === 401, `without it there is nothing: ${bare.status}`);
  await page.close();
  check((await guarded.stop()) === 0, "the server stops with code 0");
});
await flow("the server stops while a page watches a run", async () => {
  const page = await browser.open(server.url, { expect: [/ERR_/] });
  await page.click("#tab-runs");
  await page.locator('[data-name="lobster/seed-0"]').check();
  await page.waitForFunction(() => document.querySelector("tr[data-run]")?.textContent.includes("watching"));
  const started = Date.now();
  check((await server.stop()) === 0, `the server ends well: ${server.said()}`);
  check(Date.now() - started < 10_000, "and within ten seconds");
  await page.close();
  browser.complaints = browser.complaints.filter((line) => !/ERR_(CONNECTION|INCOMPLETE|EMPTY)/.test(line));
});

await browser.stop();
runs.remove();
console.log(failed === 0 ? "all flows passed" : `${failed} flows failed`);
process.exit(failed === 0 ? 0 : 1);
