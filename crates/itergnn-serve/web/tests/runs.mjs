// Runs and the report, step by step.

import { spawn } from "node:child_process";
import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { binary, check, until } from "./harness.mjs";
import { shows, text } from "./steps.mjs";

function line(step, seed = 0) {
  const noise = 1 + 0.25 * Math.sin(step * (1.7 + seed)) * Math.sin(step * 0.37);
  const loss = (2 * Math.exp(-step / (80 + 25 * seed)) + 0.05) * noise;
  const fields = { kind: "step", step, epoch: 1, loss, iterations: 12 + step / 40 + noise + seed, samples_per_second: 900 + 60 * noise - 90 * seed, seconds: step / 30 };
  return `${JSON.stringify(fields)}\n`;
}

function epoch(step, best, seed) {
  const validation = { relative_loss: Math.exp(-step / (90 + 30 * seed)), mse: null, accuracy: null, iterations: 14, capped: 0 };
  const fields = { kind: "epoch", epoch: step / 40, step, train_loss: 1, validation, validation_lifted: validation, is_best: best };
  return `${JSON.stringify(fields)}\n`;
}

/** Makes two runs in a folder, as training leaves them. */
export function makeRuns(folder) {
  for (const name of ["lobster/seed-0", "lobster/seed-1"]) {
    const path = join(folder, name);
    mkdirSync(join(path, "checkpoints"), { recursive: true });
    const seed = name.at(-1);
    writeFileSync(
      join(path, "config.toml"),
      `seed = ${seed}\n[task]\ntask = "shortest-path"\n[model]\nname = "iter-homo-path"\n`,
    );
    let lines = "";
    for (let step = 1; step <= 200; step++) lines += line(step, Number(seed)) + (step % 20 === 0 ? epoch(step, true, Number(seed)) : "");
    writeFileSync(join(path, "metrics.jsonl"), lines);
  }
  writeFileSync(join(folder, "lobster/seed-1", "result.json"), JSON.stringify({ validation: { relative_loss: 0.0123 } }));
}

/** Watches a run that grows, and another beside it. */
export async function watchRuns(page, folder) {
  await page.click("#tab-runs");
  await page.locator('[data-name="lobster/seed-0"]').check();
  const row = () => page.locator('tr[data-run="lobster/seed-0"]').innerText();
  await until(row, (found) => found.includes("200"), "200 steps");
  for (let step = 201; step <= 230; step++) {
    appendFileSync(join(folder, "lobster/seed-0", "metrics.jsonl"), line(step));
    if (step % 10 === 0) {
      const count = String(step);
      await until(row, (found) => found.includes(count), `step ${count} to appear while the run grows`);
    }
  }
  check((await row()).includes("watching"), "the run is being watched");
  await page.locator('[data-name="lobster/seed-1"]').check();
  await until(() => page.locator("#runs-table tbody tr").count(), (count) => count === 2, "two runs");
  await until(() => page.locator('tr[data-run="lobster/seed-1"]').innerText(), (found) => found.includes("finished"), "the end");
  // A curve per run in every chart.
  for (const chart of ["loss", "validation", "iterations", "speed"]) {
    for (const colour of ["#3b82f6", "#e8590c"]) await shows(page, `#runs-${chart}`, colour);
  }
  const cells = await page.locator('tr[data-run="lobster/seed-0"] td').allInnerTexts();
  check(Number(cells[3]) > 25 && Number(cells[3]) < 35, `thirty steps per second: ${cells}`);
  check(Number(cells[6]) > 12 && Number(cells[6]) < 25, `the iterations used: ${cells}`);
  await page.locator("#runs-details summary").click();
  check((await text(page, "#runs-result")).includes("0.0123"), "the result is shown");
  await page.locator('[data-name="lobster/seed-1"]').uncheck();
  await until(() => page.locator("#runs-table tbody tr").count(), (count) => count === 1, "one run");
  await page.locator("#runs-filter").fill("nothing like this");
  await page.locator("#runs-filter").press("Enter");
  check((await page.locator("#runs-list li").count()) === 0, "the filter filters");
}

/** Trains two networks and watches the runs from their first steps to their results. */
export async function watchTraining(page, shoot, folder) {
  const train = (seed) => {
    const run = spawn(binary, [
      ...["train", "shortest-path", "--model", "iter-homo-path", "--out", join(folder, `live-${seed}`), "--quiet"],
      ...["--size", "4..20", "--samples", "160", "--batch-size", "16", "--epochs", "6", "--set", "log_every=5"],
      ...["--seed", `${seed}`],
    ]);
    let said = "";
    run.stderr.on("data", (chunk) => (said += chunk));
    return new Promise((resolve) => run.on("exit", (code) => resolve(code === 0 ? "" : `code ${code}: ${said}`)));
  };
  const ended = Promise.all([train(0), train(1)]);
  await page.locator("#runs-filter").fill("live");
  const boxes = page.locator('[data-name^="live-"]');
  const listed = async () => {
    await page.click("#runs-refresh");
    return boxes.count();
  };
  await until(listed, (count) => count === 2, "the runs to begin");
  for (const box of await boxes.all()) await box.check();
  const row = (seed) => page.locator(`tr[data-run="live-${seed}"]`).innerText();
  const steps = async () => Number((await row(0)).trim().split(/\s+/)[1]);
  const first = await until(steps, (count) => count > 0, "the first steps");
  if (first < 60) await until(steps, (count) => count > first, "more steps while it trains");
  check((await ended).join("") === "", `training ends well: ${await ended}`);
  for (const seed of [0, 1]) await until(() => row(seed), (found) => /60\s.*finished/s.test(found), "the end of the run");
  await shoot(page, "runs");
  for (const box of await boxes.all()) await box.uncheck();
  await page.locator("#runs-filter").fill("");
}

/** The reproduction report of this version. */
export async function readReport(page, shoot) {
  await page.click("#tab-report");
  const frame = page.frameLocator("#report-frame");
  const words = await until(() => frame.locator("body").innerText(), (found) => found.length > 500, "the report");
  check(/Table|table/.test(words), "the report has tables");
  await shoot(page, "report");
}
